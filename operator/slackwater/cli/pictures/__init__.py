"""What people look at, and the documents that programs read. Pure: the same values give the same picture.

view         `status`: all of one group
view_tables  its tables
pod_rows     its pods
paragraph    `why`: one paragraph
defaults     `why --defaults`: whose each setting is
members      `members` and `lag`
groups       `list`
history      `history`: a group's versions
fleet        `fleet status`: budgets, who moves, who waits, who has failed
forecast     `fleet plan`: what would be, and when
campaign_plan  `fleet plan -f`: what a campaign would do
campaign     `campaign status`: waves, who was skipped, who has failed, and when it ends
beside       those of many groups, side by side where they fit
documents    `-o json` of them
"""
