"""Figures of hours and days: kept in a small file on the laptop, read from CloudWatch on AWS."""
