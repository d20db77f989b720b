import path from "node:path";
import type { ServerEntry } from "@cem/config/edit";
import { findLookAlike } from "@cem/core/text";
import { shellWord } from "@cem/core/text";

/** Names that people take for the servers of those who made what they are named for. */
const WELL_KNOWN = `
  atlassian aws azure cloudflare confluence context7 discord docker everything fetch figma filesystem
  gdrive github gitlab google-drive google-maps grafana hubspot huggingface kubernetes linear memory
  mongodb notion playwright postgres postgresql puppeteer salesforce sentry sequential-thinking
  shopify slack sqlite stripe supabase terraform vercel zapier
`
  .trim()
  .split(/\s+/u);
const CONTAINER_PROGRAMS = new Set(["docker", "podman", "nerdctl"]);
/** Options of `run` without a value of their own. */
const FLAGS =
  /^(?:-[itdPq]+|--(?:rm|init|interactive|tty|detach|privileged|read-only|publish-all|no-healthcheck|quiet|sig-proxy|oom-kill-disable|disable-content-trust))$/u;

/** What to think about before a server is used: a name that can be mistaken, an image that can change. */
export function warningsOf(name: string, entry: ServerEntry, others: Iterable<string>): string[] {
  const other = findLookAlike(name, [...others, ...WELL_KNOWN]);
  const image = unpinnedImage(entry);
  return [
    ...(other === undefined
      ? []
      : [`"${name}" looks like "${other}", which is another server. Is it the one you mean?`]),
    ...(image === undefined
      ? []
      : [
          `The image ${image} can change behind its tag. Pin it by its digest, which this prints: docker image inspect --format '{{index .RepoDigests 0}}' ${shellWord(image)}`,
        ]),
  ];
}

/** The image that a container is started from, where it is not named by its digest. */
export function unpinnedImage({ command, args }: ServerEntry): string | undefined {
  if (typeof command !== "string" || !Array.isArray(args)) return undefined;
  if (!CONTAINER_PROGRAMS.has(path.basename(command).replace(/\.exe$/iu, ""))) return undefined;
  const words = args.map(String);
  const run = words.indexOf("run");
  if (run === -1) return undefined;
  for (let at = run + 1; at < words.length; at += 1) {
    const word = words[at] ?? "";
    if (!word.startsWith("-")) return /@sha256:[0-9a-f]{64}$/u.test(word) ? undefined : word;
    // `-e NAME` and `--env NAME` take the next word; `-eNAME` and `--env=NAME` do not.
    if (!FLAGS.test(word) && !word.includes("=") && !/^-[a-z].+/u.test(word)) at += 1;
  }
  return undefined;
}
