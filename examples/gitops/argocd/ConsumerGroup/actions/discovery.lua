-- Which actions make sense now. The others stay in the menu, greyed out.

local status = obj.status or {}
local phase = (status.rollout or {}).phase
local paused = (obj.metadata.annotations or {})["slackwater.dev/pause"] ~= nil

local canary = false
for _, each in ipairs(status.conditions or {}) do
  if each.type == "RolloutGated" and each.status == "True" and each.reason == "CanaryHold" then
    canary = true
  end
end
local gave_up = phase == "Failed" or phase == "RollingBack" or phase == "RolledBack"

return {
  pause = {disabled = paused},
  resume = {disabled = not paused},
  promote = {disabled = not canary},
  abort = {disabled = phase ~= "Progressing" and phase ~= "Failed"},
  retry = {disabled = not gave_up},
  restart = {disabled = gave_up},
}
