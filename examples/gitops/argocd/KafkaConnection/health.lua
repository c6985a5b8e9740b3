-- Argo CD's health of a KafkaConnection, and of a ClusterKafkaConnection. The operator reports on one as soon as a group
-- uses it; before that there is nothing to wait for.

for _, each in ipairs((obj.status or {}).conditions or {}) do
  if each.type == "Ready" and each.status == "False" then
    return {status = "Degraded", message = each.reason .. ": " .. (each.message or "")}
  end
  if each.type == "Ready" and each.status == "True" then
    return {status = "Healthy", message = each.message}
  end
end
return {status = "Healthy", message = "no group has used it yet"}
