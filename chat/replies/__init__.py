"""A reply as people see it: one template for the page, for a fragment and for a stream's last frame, whoever asks."""
