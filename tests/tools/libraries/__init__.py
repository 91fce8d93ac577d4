"""What rows on libraries say, measured: small programs, each run twice in fresh processes under five ways of seeding."""
