"""Small data for measured programs, the same whenever it is made: functions that write below a repository's root."""
