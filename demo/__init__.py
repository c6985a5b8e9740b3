"""`make demo`: one rollout done in five ways, one bad version in two, and two changes of protocol, all measured on a
real cluster; then one group that learns from its own history.

modes      which ways there are, and what a good end of each is
manifests  what is applied for each                                  (pure)
cluster    kubectl;  kafka  topics and groups;  group  one of them;  follower  deliveries as they happen
fleet      pods, workloads and ConsumerGroups, as kubectl tells them (pure)
scene      one mode while it is played: looks, shows, waits
rollout    plays one mode: deploy, wait for steady deliveries, change something, wait for the end
figures    what was measured between the marks, and whether the mode did what it should
introduction and report: what is said before and after, `build/demo.json` (pure)
view       what a person sees meanwhile
learning   the last part: history, pipeline, recommendation, and its application
stage      sandbox and operator: brings up what is not up, and takes down only that
cascade    `make demo-fleet`: twelve applications at once, with and without a ConsumerFleet
"""
