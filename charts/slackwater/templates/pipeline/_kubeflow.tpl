{{/* Written after the API reference of Kubeflow's operator; rendered and compared, never run. */}}
{{- define "slackwater.pipeline.kubeflow" -}}
type: Python
pythonVersion: "3"
mode: cluster
sparkVersion: 4.0.0
image: {{ include "slackwater.pipeline.image" .root | quote }}
imagePullPolicy: {{ .root.Values.pipeline.image.pullPolicy }}
mainApplicationFile: {{ .root.Values.pipeline.package }}/pipeline/{{ .job }}/__main__.py
arguments:
  {{- include (printf "slackwater.pipeline.%sArguments" .job) .root | nindent 2 }}
sparkConf: {{- include "slackwater.pipeline.sparkConf" .root | nindent 2 }}
driver:
  serviceAccount: {{ include "slackwater.pipeline.driver" .root }}
  template: {{- include "slackwater.pipeline.sparkPod" (dict "root" .root "container" "spark-kubernetes-driver") | nindent 4 }}
executor:
  instances: {{ .root.Values.pipeline.executors }}
  template: {{- include "slackwater.pipeline.sparkPod" (dict "root" .root "container" "spark-kubernetes-executor") | nindent 4 }}
{{- end }}
