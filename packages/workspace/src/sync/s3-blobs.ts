import { CemError } from "@cem/core";
import { AwsClient } from "aws4fetch";
import { filesUnavailable } from "./blobs.ts";
import type { BlobStore } from "./blobs.ts";

/** A location in S3-compatible storage. */
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
 * Parses `s3://bucket/prefix?endpoint=https://host:port&region=eu-central-1`. Defaults: AWS's environment variables.
 *
 * @returns The place, or a text that completes "it …" if the URL is invalid.
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
    return "has an endpoint that is not an http(s) URL";
  const parts = path.split("/").filter((part) => part !== "");
  if (parts.some((part) => part === "." || part === "..")) return "has a prefix with . or ..";
  return { bucket, prefix: parts.join("/"), endpoint: new URL(endpoint), region };
}

const TRIES = 3;
const FIRST_PAUSE_MS = 100;
const DEFAULT_TIMEOUT_MS = 60_000;
const MAX_REASON_CHARACTERS = 200;

/** Settings of {@link createS3Blobs}. */
export interface S3BlobsSettings {
  place: S3Place;
  /** As in AWS's environment variables. */
  credentials: { accessKeyId: string; secretAccessKey: string; sessionToken?: string | undefined };
  /**
   * Total timeout of a request, including its response and all retries, in milliseconds.
   *
   * @defaultValue 60 seconds
   */
  timeoutMs?: number | undefined;
}

/**
 * Stores pieces in S3-compatible storage, using only put, get, delete and list with path-style URLs, which all servers support.
 *
 * @param folder - The folder in the bucket, below the prefix: letters, digits, `-`, `_` and `/`.
 */
export function createS3Blobs(
  { place, credentials, timeoutMs = DEFAULT_TIMEOUT_MS }: S3BlobsSettings,
  folder: string,
): BlobStore {
  const { bucket, endpoint, prefix, region } = place;
  const { sessionToken, ...key } = credentials;
  const token = sessionToken === undefined ? {} : { sessionToken };
  const client = new AwsClient({ ...key, ...token, region, service: "s3", retries: 0 });
  const base = [prefix, folder].filter((part) => part !== "").join("/");
  const location = `s3://${bucket}/${base}`;
  const root = `${endpoint.origin}${endpoint.pathname.replace(/\/$/, "")}/${bucket}`;

  /** Retries after server and network failures, but not after refusals. The timeout covers all tries. */
  async function ask(
    url: string,
    ended?: AbortSignal,
    init: RequestInit = {},
  ): Promise<{ isFound: boolean; body: Buffer }> {
    const signals = [AbortSignal.timeout(timeoutMs), ...(ended === undefined ? [] : [ended])];
    const signal = AbortSignal.any(signals);
    for (let attempt = 1; ; attempt += 1) {
      let why: unknown;
      try {
        // Not client.fetch: only its request object holds the signal, and may be garbage-collected before the body arrives.
        const answer = await fetch(await client.sign(url, init), { signal });
        const body = Buffer.from(await answer.arrayBuffer());
        // A sign-in page, or the page of a proxy, stores nothing.
        if (answer.ok && init.method !== "DELETE" && !isOfS3(answer, body))
          throw filesUnavailable(location, "it answered without an ETag, as no S3 server does");
        if (answer.ok || answer.status === 404) return { isFound: answer.ok, body };
        why = `it answered ${answer.status}${reasonIn(body.toString())}`;
        if (answer.status < 500 && answer.status !== 429) throw filesUnavailable(location, String(why));
      } catch (error) {
        if (CemError.isInstance(error)) throw error;
        why = signal.aborted ? `it did not answer in full within ${timeoutMs / 1_000} s` : error;
      }
      if (attempt >= TRIES || signal.aborted) throw filesUnavailable(location, textOf(why), why);
      await new Promise((resolve) => setTimeout(resolve, FIRST_PAUSE_MS * 2 ** attempt * Math.random()));
    }
  }

  return {
    specificationVersion: "v1",
    location,
    place: `${root}/${base}`,
    async read(name, signal) {
      const { isFound, body } = await ask(`${root}/${base}/${name}`, signal);
      if (isFound) return body;
      if (/NoSuchBucket/.test(body.toString()))
        throw filesUnavailable(location, `there is no bucket ${bucket}`);
      return undefined;
    },
    async write(name, bytes, signal) {
      const body = bytes as Uint8Array<ArrayBuffer>;
      const { isFound } = await ask(`${root}/${base}/${name}`, signal, { method: "PUT", body });
      if (!isFound) throw filesUnavailable(location, `there is no bucket ${bucket}`);
    },
    async remove(name, signal) {
      await ask(`${root}/${base}/${name}`, signal, { method: "DELETE" });
    },
    async *names(signal) {
      let last: string | undefined;
      do {
        const query = new URLSearchParams({ prefix: `${base}/` });
        // ListObjects version 1, which every server supports: it continues after a name.
        if (last !== undefined) query.set("marker", last);
        const { isFound, body } = await ask(`${root}?${query.toString()}`, signal);
        const text = body.toString();
        if (!isFound) throw filesUnavailable(location, `there is no bucket ${bucket}`);
        const keys = [...text.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key = ""]) => key);
        for (const key of keys) if (key.startsWith(`${base}/`)) yield key.slice(base.length + 1);
        last = /<IsTruncated>true</.test(text) ? keys.at(-1) : undefined;
      } while (last !== undefined);
    },
  };
}

/** Every object that is put or got has an ETag; a list has none. */
function isOfS3({ headers }: Response, body: Buffer): boolean {
  return headers.has("etag") || body.includes("<ListBucketResult");
}

/** The `<Code>` of an S3 error response, in parentheses; empty if there is none. */
function reasonIn(text: string): string {
  const code = /<Code>([^<]*)</.exec(text)?.[1];
  return code === undefined ? "" : ` (${code.slice(0, MAX_REASON_CHARACTERS)})`;
}

/** The cause of a failed fetch is more informative than the error itself. */
function textOf(why: unknown): string {
  const cause = (why as { cause?: { code?: string; message?: string } } | undefined)?.cause;
  const text = cause?.code ?? cause?.message ?? (why instanceof Error ? why.message : String(why));
  return text.slice(0, MAX_REASON_CHARACTERS);
}
