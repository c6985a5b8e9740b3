"""What the literature does to consumer groups, played in a plain cluster and under Slackwater, and measured."""
