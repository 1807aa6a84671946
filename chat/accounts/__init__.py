"""What is ours in the accounts: allauth does the work, these modules say how it is to be done here."""
