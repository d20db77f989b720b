{{- define "cem.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "cem.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "cem.labels" -}}
{{ include "cem.selector" . }}
app.kubernetes.io/version: {{ .Values.image.tag | default .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "cem.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{/* sandbox.mode, decided: namespaces where Kubernetes has user namespaces for pods and nothing in the namespace forbids what they take. */}}
{{- define "cem.mode" -}}
{{- if ne .Values.sandbox.mode "auto" }}{{ .Values.sandbox.mode }}
{{- else if not (semverCompare ">=1.33.0-0" .Capabilities.KubeVersion.Version) }}permissions
{{- else }}
{{- $namespace := lookup "v1" "Namespace" "" .Release.Namespace | default dict }}
{{- $enforced := dig "metadata" "labels" "pod-security.kubernetes.io/enforce" "privileged" $namespace }}
{{- ternary "namespaces" "permissions" (eq $enforced "privileged") }}
{{- end }}
{{- end }}

{{/* The seccomp profile of pods that make namespaces, in the kubelet's folder. */}}
{{- define "cem.seccompProfile" -}}
{{- .Values.sandbox.namespaces.localhostProfile | default (printf "%s.json" (include "cem.name" .)) }}
{{- end }}

{{- define "cem.claim" -}}
{{ .Values.persistence.existingClaim | default (printf "%s-files" (include "cem.name" .)) }}
{{- end }}

{{/* Seconds for runs to finish: the grace period, but for the time in which a worker gives up the rest and ends. */}}
{{- define "cem.drainGrace" -}}
{{- max 0 (sub (int .Values.worker.terminationGracePeriodSeconds) 10) }}
{{- end }}

{{/* A variable from a Secret, from a plain value, or not at all. */}}
{{- define "cem.variable" -}}
{{- if .secret.name }}
- name: {{ .name }}
  valueFrom:
    secretKeyRef: { name: {{ .secret.name }}, key: {{ .secret.key }} }
{{- else if .value }}
- name: {{ .name }}
  value: {{ .value | quote }}
{{- end }}
{{- end }}

{{/* The settings that the chart itself decides, over those of the user. */}}
{{- define "cem.config" -}}
{{- $execution := dict "workspace_dir" "/files/workspace" "servers_dir" "/files/servers" "skills_dir" "/files/skills" "workflow_runs_dir" "/files/workflow-runs" }}
{{- if eq (include "cem.mode" .) "pods" }}
{{- $kubernetes := dict "template" (printf "%s-guest" (include "cem.name" .)) "volume_claim" (include "cem.claim" .) "volume_root" "/files" }}
{{- $execution = merge $execution (dict "sandbox_type" "kubernetes" "min_isolation" .Values.sandbox.pods.minIsolation "kubernetes" $kubernetes) }}
{{- else }}
{{- $execution = merge $execution (dict "sandbox_type" "deno" "min_isolation" (ternary "permissions" .Values.sandbox.mode (eq .Values.sandbox.mode "auto"))) }}
{{- end }}
{{- $customers := dict "dir" "/files/customers" }}
{{- $name := include "cem.name" . }}
{{- $hosts := list $name (printf "%s.%s" $name .Release.Namespace) (printf "%s.%s.svc" $name .Release.Namespace) (printf "%s.%s.svc.cluster.local" $name .Release.Namespace) }}
{{- $hosts = concat $hosts (list (ternary .Values.ingress.host "" .Values.ingress.enabled)) (dig "server" "allowed_hosts" list .Values.config) | compact | uniq }}
{{- mergeOverwrite (dict "customers" $customers) (deepCopy .Values.config) (dict "execution" $execution "server" (dict "allowed_hosts" $hosts)) | toYaml }}
{{- end }}

{{/* A deployment's pod. Takes root, component, values, command, env and what else differs. */}}
{{- define "cem.deployment" -}}
{{- $root := .root -}}
{{- $namespaces := eq (include "cem.mode" $root) "namespaces" -}}
{{- $needsApi := eq (include "cem.mode" $root) "pods" -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "cem.name" $root }}-{{ .component }}
  labels:
    {{- include "cem.labels" $root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
spec:
  {{- if .replicas }}
  replicas: {{ .replicas }}
  {{- end }}
  revisionHistoryLimit: 3
  selector:
    matchLabels:
      {{- include "cem.selector" $root | nindent 6 }}
      app.kubernetes.io/component: {{ .component }}
  template:
    metadata:
      labels:
        {{- include "cem.labels" $root | nindent 8 }}
        app.kubernetes.io/component: {{ .component }}
        {{- with $root.Values.podLabels }}{{ toYaml . | nindent 8 }}{{ end }}
      annotations:
        checksum/config: {{ include "cem.config" $root | sha256sum }}
        {{- with $root.Values.podAnnotations }}{{ toYaml . | nindent 8 }}{{ end }}
    spec:
      serviceAccountName: {{ include "cem.name" $root }}
      automountServiceAccountToken: {{ $needsApi }}
      enableServiceLinks: false
      {{- with $root.Values.imagePullSecrets }}
      imagePullSecrets: {{ toYaml . | nindent 8 }}
      {{- end }}
      {{- with $root.Values.sandbox.runtimeClassName }}
      runtimeClassName: {{ . }}
      {{- end }}
      {{- if $namespaces }}
      # Root in the pod's own user namespace is nobody on the node. /proc may be unmasked only in one.
      hostUsers: false
      {{- end }}
      terminationGracePeriodSeconds: {{ .values.terminationGracePeriodSeconds }}
      securityContext:
        runAsNonRoot: true
        runAsUser: 1000
        runAsGroup: 1000
        fsGroup: 1000
        fsGroupChangePolicy: OnRootMismatch
        seccompProfile:
          {{- if not $namespaces }}
          type: RuntimeDefault
          {{- else }}
          type: Localhost
          localhostProfile: {{ include "cem.seccompProfile" $root }}
          {{- end }}
      containers:
        - name: {{ .component }}
          image: {{ include "cem.image" $root }}
          imagePullPolicy: {{ $root.Values.image.pullPolicy }}
          args: {{ toJson .command }}
          env:
            - { name: CEM_TRUST_FOLDER, value: /data }
            - { name: HOME, value: /tmp }
            {{- include "cem.variable" (dict "name" "CEM_QUEUE_URL" "value" $root.Values.queue.url "secret" $root.Values.queue.urlSecret) | nindent 12 }}
            {{- include "cem.variable" (dict "name" "CEM_STORE_URL" "value" $root.Values.store.url "secret" $root.Values.store.urlSecret) | nindent 12 }}
            {{- include "cem.variable" (dict "name" "CEM_STORE_KEYS" "secret" $root.Values.store.keysSecret) | nindent 12 }}
            {{- if $needsApi }}
            - name: CEM_POD_NAME
              valueFrom: { fieldRef: { fieldPath: metadata.name } }
            - name: CEM_POD_UID
              valueFrom: { fieldRef: { fieldPath: metadata.uid } }
            {{- end }}
            {{- toYaml .env | nindent 12 }}
            {{- with .values.extraEnv }}{{ toYaml . | nindent 12 }}{{ end }}
          ports:
            - { name: http, containerPort: 3000 }
          startupProbe:
            httpGet: { path: /healthz, port: http }
            periodSeconds: 2
            failureThreshold: 60
          livenessProbe:
            httpGet: { path: /healthz, port: http }
            periodSeconds: 10
            timeoutSeconds: 5
            failureThreshold: 6
          readinessProbe:
            httpGet: { path: /readyz, port: http }
            periodSeconds: 5
            timeoutSeconds: 5
          {{- if .preStop }}
          lifecycle:
            # Until endpoints no longer name the pod, requests still come.
            preStop: { exec: { command: ["sleep", "5"] } }
          {{- end }}
          resources: {{ toYaml .values.resources | nindent 12 }}
          securityContext:
            allowPrivilegeEscalation: false
            readOnlyRootFilesystem: true
            privileged: false
            capabilities: { drop: [ALL] }
            {{- if $namespaces }}
            procMount: Unmasked
            {{- end }}
          volumeMounts:
            - { name: tmp, mountPath: /tmp }
            - { name: data, mountPath: /data }
            # The folder of the configuration is the project: caches lie beside it.
            - { name: config, mountPath: /data/config.yaml, subPath: config.yaml, readOnly: true }
            - { name: files, mountPath: /files }
      volumes:
        - name: config
          configMap: { name: {{ include "cem.name" $root }} }
        - name: tmp
          emptyDir: { sizeLimit: 1Gi }
        - name: data
          emptyDir: { sizeLimit: 256Mi }
        - name: files
          {{- if $root.Values.persistence.enabled }}
          persistentVolumeClaim: { claimName: {{ include "cem.claim" $root }} }
          {{- else }}
          emptyDir: {}
          {{- end }}
      {{- with .values.nodeSelector }}
      nodeSelector: {{ toYaml . | nindent 8 }}
      {{- end }}
      {{- with .values.tolerations }}
      tolerations: {{ toYaml . | nindent 8 }}
      {{- end }}
      {{- with .values.affinity }}
      affinity: {{ toYaml . | nindent 8 }}
      {{- end }}
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels:
              {{- include "cem.selector" $root | nindent 14 }}
              app.kubernetes.io/component: {{ .component }}
{{- end }}
