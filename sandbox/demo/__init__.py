"""`make demo`: the same rollout done in three ways, and the same bad version in two, measured on a real cluster.

modes      which ways there are, and what a good end of each is
manifests  what is applied for each                                  (pure)
cluster    kubectl;  kafka  topics and groups;  follower  deliveries as they happen
fleet      pods, workloads and ConsumerGroups, as kubectl tells them (pure)
rollout    plays one mode: deploy, wait for steady deliveries, change the version, wait for the end
figures    what was measured between the marks, and whether the mode did what it should
report     the table, its notes and `build/demo.json`                (pure)
view       what a person sees meanwhile
stage      sandbox and operator: brings up what is not up, and takes down only that
"""
