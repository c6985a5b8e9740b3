module slackwater.dev/sandbox/pause

go 1.21
