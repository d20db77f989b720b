import * as kubernetes from "@kubernetes/client-node";

interface Attribute {
  baseName: string;
  type: string;
}

const models: Readonly<Record<string, unknown>> = { ...kubernetes };

/** Attributes of the types of agent-sandbox v1beta1, in the form of the client's own. */
const CUSTOM: Readonly<Record<string, readonly Attribute[]>> = {
  Sandbox: object("SandboxSpec", "SandboxStatus"),
  SandboxSpec: attributes({
    podTemplate: "PodTemplate",
    volumeClaimTemplates: "Array<any>",
    service: "boolean",
    shutdownTime: "Date",
    shutdownPolicy: "Delete|Retain",
    operatingMode: "Running|Suspended",
  }),
  SandboxStatus: attributes({
    serviceFQDN: "string",
    service: "string",
    conditions: "Array<V1Condition>",
    selector: "string",
    podIPs: "Array<string>",
    nodeName: "string",
  }),
  SandboxTemplate: object("SandboxTemplateSpec"),
  SandboxTemplateSpec: attributes({
    podTemplate: "PodTemplate",
    volumeClaimTemplates: "Array<any>",
    service: "boolean",
    networkPolicy: "NetworkRules",
    networkPolicyManagement: "Managed|Unmanaged",
    envVarsInjectionPolicy: "Allowed|Overrides|Disallowed",
    volumeClaimTemplatesPolicy: "Allowed|Overrides|Disallowed",
    generatedSecrets: "Array<any>",
  }),
  NetworkRules: attributes({
    ingress: "Array<V1NetworkPolicyIngressRule>",
    egress: "Array<V1NetworkPolicyEgressRule>",
  }),
  PodTemplate: attributes({ metadata: "PodMetadata", spec: "V1PodSpec" }),
  PodMetadata: attributes({
    labels: "{ [key: string]: string; }",
    annotations: "{ [key: string]: string; }",
  }),
};

function attributes(types: Record<string, string>): Attribute[] {
  return Object.entries(types).map(([baseName, type]) => ({ baseName, type }));
}

function object(spec: string, status = "any"): Attribute[] {
  return attributes({ apiVersion: "string", kind: "string", metadata: "V1ObjectMeta", spec, status });
}

/** Fields of an object that its schema does not know, or knows with another type. A kind without a schema is a problem too. */
export function findProblems(value: { apiVersion: string; kind: string }): string[] {
  const { apiVersion, kind } = value;
  const version = apiVersion.split("/").at(-1) ?? "";
  const model = `${version.charAt(0).toUpperCase()}${version.slice(1)}${kind}`;
  const type = apiVersion.includes("agents.x-k8s.io/v1beta1") ? kind : model;
  return attributesOf(type) === undefined
    ? [`no schema for ${apiVersion} ${kind}`]
    : problemsOf(value, type, kind);
}

function attributesOf(type: string): readonly Attribute[] | undefined {
  const model = models[type];
  if (typeof model !== "function" || !("getAttributeTypeMap" in model)) return CUSTOM[type];
  return (model.getAttributeTypeMap as () => Attribute[])();
}

function problemsOf(value: unknown, type: string, path: string): string[] {
  const item = /^Array<(.+)>$/.exec(type)?.[1];
  if (item !== undefined) {
    if (!Array.isArray(value)) return [`${path} is not a list`];
    return value.flatMap((one, index) => problemsOf(one, item, `${path}[${index}]`));
  }
  const member = /^\{ \[key: string\]: (.+); \}$/.exec(type)?.[1];
  const known = attributesOf(type);
  if (member === undefined && known === undefined)
    return isPlain(value, type) ? [] : [`${path} is not a ${type}`];
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return [`${path} is not an object`];
  return Object.entries(value).flatMap(([key, one]) => {
    const inner = member ?? known?.find(({ baseName }) => baseName === key)?.type;
    return inner === undefined ? [`unknown field ${path}.${key}`] : problemsOf(one, inner, `${path}.${key}`);
  });
}

function isPlain(value: unknown, type: string): boolean {
  switch (type) {
    case "any":
    case "object":
      return true;
    case "string":
    case "number":
    case "boolean":
      return typeof value === type;
    case "Date":
    case "V1MicroTime":
      return typeof value === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/.test(value);
    case "IntOrString":
      return typeof value === "string" || Number.isInteger(value);
    default:
      return typeof value === "string" && type.split("|").includes(value);
  }
}
