"""What runs generations and carries their frames: one hub, one runner loop, engines that differ in where they stand."""
