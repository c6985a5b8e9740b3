if obj.metadata.annotations ~= nil then
  obj.metadata.annotations["slackwater.dev/pause"] = nil
end
return obj
