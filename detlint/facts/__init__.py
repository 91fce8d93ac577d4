"""What one file tells the others: functions reduced to statements that may matter, collected from its tree."""
