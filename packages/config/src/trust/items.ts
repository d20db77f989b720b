import { hash } from "node:crypto";
import { join } from "node:path";
import { isWithin } from "@cem/core/files";
import { getPath } from "../layer.ts";
import type { Origin } from "../layer.ts";
import type { TrustKind } from "../schema/risk.ts";
import type { Config } from "../schema/schema.ts";
import { redactConfig, Secret } from "../redact.ts";
import { SETTINGS } from "../settings.ts";
import type { Setting } from "../settings.ts";
import { realPath } from "./places.ts";

/** Something on the host that files of a folder request, and that the user has to trust. */
export interface TrustItem {
  kind: TrustKind;
  /** Its name in the folder's files: `github`, `crm.find_contact`, `execution.workspace_dir`, a path. */
  name: string;
  /** Its effect, on one line and without values that could be secrets. */
  text: string;
  /** Files of the folder that decide what it does, relative to the folder. */
  files: readonly string[];
  /** The files among them that no setting names, but whose presence changes what a command runs. */
  implicitFiles?: readonly string[] | undefined;
  /** SHA-256 of everything that decides what it does, in hexadecimal. */
  digest: string;
}

export interface HeldItem extends TrustItem {
  /** The item as it was trusted before it changed. */
  before?: TrustItem | undefined;
}

/** Creates an item; its digest covers everything given. */
export function trustItem(
  { kind, name, text }: Pick<TrustItem, "kind" | "name" | "text">,
  decides: unknown,
  files: ReadonlyMap<string, string> = new Map(),
): TrustItem {
  const sorted = [...files].toSorted(([one], [other]) => (one < other ? -1 : 1));
  const digest = hash("sha256", JSON.stringify([kind, name, decides, sorted]));
  return { kind, name, text, files: sorted.map(([file]) => file), digest };
}

type Llm = Config["llm"];

const PROVIDER_ADDRESSES: Readonly<Record<Llm["provider"], string | undefined>> = {
  openai: "https://api.openai.com",
  anthropic: "https://api.anthropic.com",
  azure_openai: undefined,
};
/** The providers that the keys in variables are meant for. */
const PROVIDER_OF_VARIABLE: Readonly<Record<string, Llm["provider"]>> = {
  OPENAI_API_KEY: "openai",
  ANTHROPIC_API_KEY: "anthropic",
};

/** Keys of the user, not of the folder, that would be sent to an address chosen only by files of the folder. */
export function keyItems(config: Config, own: Config, origins: Readonly<Record<string, Origin>>) {
  const model = origins["llm.api_key"];
  const native = PROVIDER_OF_VARIABLE[model?.variable ?? ""];
  const { execution, llm } = config;
  // Without the folder, another provider with another key may be used.
  const isOwnKey = llm.apiKey?.reveal() === own.llm.apiKey?.reveal();
  const ownAddresses = [...modelAddresses({ ...own.llm, enabled: true }), own.llm.azureEndpoint];
  return [
    ...keyItem("llm.api_key", llm.apiKey && model, modelAddresses(llm), [
      ...(isOwnKey ? ownAddresses : []),
      native && PROVIDER_ADDRESSES[native],
    ]),
    ...keyItem(
      "execution.msb_api_key",
      execution.msbApiKey && origins["execution.msb_api_key"],
      [execution.msbServerUrl],
      [own.execution.msbServerUrl],
    ),
  ];
}

function modelAddresses(llm: Llm): (string | undefined)[] {
  const { azureEmbedderName, azureEndpoint, baseUrl, embeddingModel, enabled, provider } = llm;
  const resource = provider === "azure_openai" ? azureEndpoint : undefined;
  return [
    enabled ? (baseUrl ?? resource ?? PROVIDER_ADDRESSES[provider]) : undefined,
    azureEmbedderName === undefined ? undefined : azureEndpoint,
    embeddingModel === undefined ? undefined : (baseUrl ?? PROVIDER_ADDRESSES.openai),
  ];
}

function keyItem(
  name: string,
  origin: Origin | undefined,
  addresses: readonly (string | undefined)[],
  known: readonly (string | undefined)[],
): TrustItem[] {
  if (origin === undefined || origin.ofFolder === true) return [];
  const chosen = [...new Set(addresses)].filter(
    (one): one is string => one !== undefined && !known.includes(one),
  );
  if (chosen.length === 0) return [];
  const places = chosen.map(placeOf).join(" and ");
  const text = `your key (${origin.label}) is sent to ${places}, which only files of this folder name`;
  return [trustItem({ kind: "key", name, text }, [origin.variable, ...chosen])];
}

function placeOf(address: string): string {
  return URL.canParse(address) ? new URL(address).origin : address;
}

const MAX_SHOWN_CHARACTERS = 160;

/** Features that must be in use for settings to have an effect, by the prefix of the settings' paths. */
const FEATURES: Readonly<Record<string, (config: Config) => boolean>> = {
  "llm.": ({ llm }) => llm.enabled || llm.embeddingModel !== undefined || llm.azureEmbedderName !== undefined,
  "guardrails.allowed_networks": ({ execution }) => execution.allowNetworkAccess,
  "execution.kubernetes.": ({ execution }) => execution.sandboxType === "kubernetes",
};

/** Where the parts of a configuration come from, and what it would be without the files of the folder. */
export interface ConfigOrigins {
  /** The configuration without the files of the folder: settings that allow no more than it need no trust. */
  own: Config;
  origins: Readonly<Record<string, Origin>>;
  /** The values that each file of the folder sets, even if the user overrides them. */
  given: Readonly<Partial<Record<Origin["from"], unknown>>>;
  /** The real path of the folder whose files are not trusted yet. */
  folder: string;
  /** The real path of the folder that the defaults start from; `undefined` when the defaults are not checked. */
  defaultsFolder: string | undefined;
}

type PathOrigins = Pick<ConfigOrigins, "origins" | "folder" | "defaultsFolder">;

/** The settings in files of the folder that may do harm. They act together, so each item has the digest of all. */
export function settingItems(
  config: Config,
  { own, origins, given }: Pick<ConfigOrigins, "own" | "origins" | "given">,
  settings: readonly Setting[] = SETTINGS,
): TrustItem[] {
  const able = settings.filter(({ askedAs }) => askedAs === "setting");
  return able.flatMap(({ path, keys, description, isStricter }) => {
    const origin = origins[path];
    if (origin?.ofFolder !== true) return [];
    const [value, standard] = [getPath(config, keys), getPath(own, keys)];
    const isSame = written(value) === written(standard);
    const [, isInUse] = Object.entries(FEATURES).find(([start]) => path.startsWith(start)) ?? [];
    const isIdle = isInUse !== undefined && !isInUse(config) && !isInUse(own);
    if (isSame || isIdle || isStricter?.(value, standard) === true) return [];
    const together = able.flatMap((one) => {
      const set = getPath(given[origin.from], one.keys);
      return set === undefined ? [] : [[one.path, written(set)]];
    });
    const text = `${shown(path, value)}: ${inShort(description)}`;
    return [trustItem({ kind: "setting", name: path, text }, [written(value), together])];
  });
}

/** A description, or its first sentence where it is long. */
function inShort(description: string): string {
  if (description.length <= MAX_SHOWN_CHARACTERS) return description;
  return /^.*?\.(?= )/u.exec(description)?.[0] ?? description;
}

/** A value as text, with its secrets. */
function written(value: unknown): string {
  return JSON.stringify({ value }, function reveal(this: Record<string, unknown>, key, plain: unknown) {
    const given = this[key];
    return Secret.isInstance(given) ? given.reveal() : plain;
  });
}

/** A value as text, without its secrets. */
function shown(path: string, value: unknown): string {
  const name = path.slice(path.lastIndexOf(".") + 1);
  const [safe] = Object.values(redactConfig({ [name]: value }));
  return typeof safe === "string" ? safe : JSON.stringify(safe);
}

const PATHS = SETTINGS.filter(({ askedAs }) => askedAs === "path");
/** Contains the hooks that git runs; a clone never brings any. */
const GIT_FOLDER = ".git";

/** Paths in settings of the folder, and links of the folder at default locations, that lead out of it or to git's files. */
export function pathItems(config: Config, from: PathOrigins): TrustItem[] {
  return PATHS.flatMap(({ path, keys, isPath }) => {
    const place = getPath(config, keys);
    // By default it is the workspace, which is checked itself.
    if (path === "execution.state.workspace_dir" && from.origins[path]?.from === "default") return [];
    const border = borderOf(from.origins[path], from);
    if (typeof place !== "string" || !isPath(place) || border === undefined) return [];
    const real = realPath(place);
    if (isWithin(border, real) && !meetsGit(border, real)) return [];
    return [trustItem({ kind: "path", name: path, text: real }, [place, real])];
  });
}

function borderOf(origin: Origin | undefined, { folder, defaultsFolder }: PathOrigins): string | undefined {
  if (origin === undefined || origin.from === "default") return defaultsFolder;
  return origin.ofFolder === true ? folder : undefined;
}

/** Whether a place is inside git's folder, or contains it. */
function meetsGit(border: string, place: string): boolean {
  const git = join(border, GIT_FOLDER);
  return isWithin(git, place) || isWithin(place, git);
}

/** Mounts in settings of the folder that expose places outside of it to the guest, or let the guest change git's files. */
export function mountItems({ execution }: Config, { origins, folder }: PathOrigins): TrustItem[] {
  if (origins["execution.mount_directories"]?.ofFolder !== true) return [];
  return execution.mountDirectories.flatMap(({ host, guest, mode }) => {
    const real = realPath(host);
    if (isWithin(folder, real) && !(mode === "rw" && meetsGit(folder, real))) return [];
    const may = mode === "rw" ? "which code may change" : "which code may read";
    return [trustItem({ kind: "mount", name: guest, text: `${real}, ${may}` }, [host, real, mode])];
  });
}
