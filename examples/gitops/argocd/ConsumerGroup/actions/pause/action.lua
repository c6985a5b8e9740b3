-- It holds while the annotation is there; the value is a reason for people.
obj.metadata.annotations = obj.metadata.annotations or {}
obj.metadata.annotations["slackwater.dev/pause"] = "paused in Argo CD"
return obj
