"""Encryption of what persons log in with: by a key of AWS KMS, or by a key file on a laptop."""
