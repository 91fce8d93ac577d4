"""What one file tells the others: functions reduced to the statements that may matter, collected from its tree."""
