"""What a run says: arms with their rates, intervals and reasons. Pure: facts in, values out."""
