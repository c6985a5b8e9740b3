-- Argo CD's health of a ConsumerGroup. It reads what the operator reports today: the condition Ready alone would call a
-- group healthy in the middle of a rollout, and after a rollback.

local status = obj.status or {}
local rollout = status.rollout or {}

local function condition(kind)
  for _, each in ipairs(status.conditions or {}) do
    if each.type == kind then
      return each
    end
  end
  return {}
end

local function health(word, message)
  return {status = word, message = message or ""}
end

local function why(each)
  if each.message == nil or each.message == "" then
    return each.reason or ""
  end
  return each.reason .. ": " .. each.message
end

if obj.metadata.deletionTimestamp ~= nil then
  return health("Progressing", "members leave the group before the object goes")
end
if status.observedGeneration == nil or status.observedGeneration < (obj.metadata.generation or 0) then
  return health("Progressing", "the operator has not read this version of the spec yet")
end

-- It is True for what does not mend itself: a version that was given up, until another one comes, also while the group is
-- paused; and a spec that the operator could not read.
local degraded = condition("Degraded")
if degraded.status == "True" then
  return health("Degraded", why(degraded))
end

-- False is also what it says where nothing is to be upgraded, and while it cannot know yet.
local not_known = {BrokerUnknown = true, StatefulSetNotObserved = true, StepNotProven = true}
local upgrade = condition("ProtocolUpgrade")
if upgrade.status == "False" and upgrade.reason ~= "ProtocolAsWanted" then
  if not_known[upgrade.reason] then
    return health("Progressing", why(upgrade))
  end
  return health("Degraded", why(upgrade))
end

local paused = condition("Paused")
if paused.status == "True" then
  return health("Suspended", why(paused))
end
local gated = condition("RolloutGated")
if gated.status == "True" and gated.reason == "CanaryHold" then
  return health("Suspended", why(gated))
end
if gated.status == "True" then
  return health("Progressing", why(gated))
end
if rollout.phase == "Progressing" or upgrade.status == "True" then
  return health("Progressing", why(condition("Progressing")))
end
if (status.updatedReplicas or 0) < (obj.spec.replicas or 1) then
  return health("Progressing", "not all pods have this version yet")
end

local ready = condition("Ready")
if ready.status ~= "True" then
  return health("Progressing", why(ready))
end
return health("Healthy", ready.message)
