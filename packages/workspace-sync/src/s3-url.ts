/** A place in S3-compatible storage. */
export interface S3Place {
  bucket: string;
  /** Without a slash at either end; may be empty. */
  prefix: string;
  endpoint: URL;
  region: string;
}

const S3_URL = /^s3:\/\/([a-z\d][a-z\d.-]{1,61}[a-z\d])(?:\/([\w./-]*))?(?:\?(.*))?$/;
const PARAMETERS = new Set(["endpoint", "region"]);
const DEFAULT_REGION = "us-east-1";

/**
 * Reads `s3://bucket/prefix?endpoint=https://host:port&region=eu-central-1`. What is missing comes from the usual variables.
 *
 * @returns what is wrong with it, as words that follow "it".
 */
export function parseS3Url(
  url: string,
  environment: Readonly<Record<string, string | undefined>>,
): S3Place | string {
  const [, bucket, path = "", query = ""] = S3_URL.exec(url) ?? [];
  if (bucket === undefined) return "is not of the form s3://bucket/prefix?endpoint=https://host:port";
  const parameters = new URLSearchParams(query);
  const unknown = [...parameters.keys()].find((name) => !PARAMETERS.has(name));
  if (unknown !== undefined) return `has a parameter that is not known: ${unknown}`;
  const region =
    parameters.get("region") ??
    (environment["AWS_REGION"] || environment["AWS_DEFAULT_REGION"] || DEFAULT_REGION);
  const given =
    parameters.get("endpoint") ?? (environment["AWS_ENDPOINT_URL_S3"] || environment["AWS_ENDPOINT_URL"]);
  const endpoint = given ?? `https://s3.${region}.amazonaws.com`;
  if (!/^https?:\/\//.test(endpoint) || !URL.canParse(endpoint))
    return "has an endpoint that is no http(s) URL";
  const parts = path.split("/").filter((part) => part !== "");
  if (parts.some((part) => part === "." || part === "..")) return "has a prefix with . or ..";
  return { bucket, prefix: parts.join("/"), endpoint: new URL(endpoint), region };
}
