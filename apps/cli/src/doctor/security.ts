import { ISOLATION_LEVELS, type Isolation, type IsolationLevel } from "@cem/core";
import type { SecurityReport } from "code-execution-mcp/admin";
import { counted, shortPath } from "../render/text.ts";
import { check, type Check } from "./checks.ts";

/** Limits of each isolation level. A test compares the text with the table in the security model. */
export const NOT_HELD: Readonly<Record<IsolationLevel, string>> = {
  microvm: "faults of the processor's virtualization or of microsandbox",
  namespaces:
    "faults of the host's kernel, which the guest shares; without bubblewrap: set-user-ID bits of files in the workspace",
  permissions:
    "faults of Deno or V8, which are the host's user then; memory outside of V8's heap only by polling; set-user-ID bits of files in the workspace; where the host's user is not root: mode, owner and times of its files in read-only mounts; the workspace's path on the host",
};

const OF_OTHERS = /; without bubblewrap: .*/u;
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/u;

/** Checks what protects the host here: `ok` holds, `warning` and `off` do not. */
export function checkSecurity(report: SecurityReport): Check[] {
  return [
    checkIsolation(report),
    checkSessions(report),
    checkTrust(report),
    checkSecrets(report),
    checkPlaces(report),
    checkNetwork(report),
    checkMounts(report),
    checkReview(report),
    checkTypes(report),
    checkTools(report),
    checkServing(report),
  ];
}

function checkIsolation({ sandboxes, configuration, isRoot }: SecurityReport): Check {
  const name = "isolation";
  const { minIsolation } = configuration.config.execution;
  const given = sandboxes.flatMap(({ probe }) => (probe.available ? [probe.isolation] : []));
  // Levels are listed from strongest to weakest.
  const weakness = (level: IsolationLevel): number => ISOLATION_LEVELS.indexOf(level);
  const [best] = given.toSorted((a, b) => weakness(a.level) - weakness(b.level));
  if (best === undefined) return check(name, "broken", "no sandbox can start here");
  const notes = [
    best.mechanisms.join(", "),
    `It does not protect against: ${notHeld(best)}.`,
    best.level === "permissions" &&
      "The runtime's own permissions are all that holds the guest: install bubblewrap, or use a host with microVMs.",
    weakness(minIsolation) > weakness(best.level) &&
      `Where it can't be given, less is taken: refuse that with execution.min_isolation: ${best.level}`,
    isRoot && "cem runs as root: what escapes would be root, too. Run it as a user of its own.",
  ];
  const state = best.level === "permissions" || isRoot ? "warning" : "ok";
  return check(name, state, `level ${best.level} (${best.sandbox})`, notes);
}

function notHeld({ level, mechanisms }: Pick<Isolation, "level" | "mechanisms">): string {
  return mechanisms.includes("bubblewrap") ? NOT_HELD[level].replace(OF_OTHERS, "") : NOT_HELD[level];
}

function checkSessions({ configuration }: SecurityReport): Check {
  const { sandboxReuse, enabled } = configuration.config.optimizations;
  if (sandboxReuse === "none" || !enabled)
    return check("sessions", "ok", "each run has a process of its own");
  const notes = ["A process of its own for each run: optimizations.sandbox_reuse: none"];
  const summary = "each session has a process of its own, each run in it a realm";
  return check("sessions", "ok", summary, notes);
}

function checkTrust({ trust }: SecurityReport): Check {
  const { requested, held } = trust;
  const name = "trust";
  if (requested.length === 0) return check(name, "ok", "files of this folder ask for nothing on this host");
  const asked = `${counted(requested.length, "thing")} that files of this folder ask for`;
  return held.length === 0
    ? check(name, "ok", `${asked}, all trusted`, ["cem trust --list shows them"])
    : check(name, "ok", `${held.length} of ${asked} held back`, ["cem trust shows them and asks"]);
}

function checkSecrets({ secretsInFiles }: SecurityReport): Check {
  const name = "secrets";
  if (secretsInFiles.length === 0)
    return check(name, "ok", "no key or token of the settings stands in a file");
  const notes = secretsInFiles.map(
    ({ setting, origin }) => `${setting} stands in ${origin}: better in the environment`,
  );
  const summary = `${counted(secretsInFiles.length, "secret")} in files`;
  return check(name, "warning", summary, notes);
}

function checkPlaces({ places }: SecurityReport): Check {
  const open = places.filter(({ isOpen }) => isOpen);
  const notes = open.map(({ path, mode }) => `${shortPath(path)} is ${mode}: chmod go= ${shortPath(path)}`);
  const summary =
    open.length === 0
      ? `only you can read ${places.map(({ path }) => shortPath(path)).join(", ") || "what cem writes"}`
      : `others can read ${open.map(({ path }) => shortPath(path)).join(", ")}`;
  return check("files", open.length === 0 ? "ok" : "warning", summary, notes);
}

function checkNetwork({ configuration }: SecurityReport): Check {
  const { execution, guardrails } = configuration.config;
  const name = "network";
  if (!execution.allowNetworkAccess) return check(name, "ok", "code can't reach it");
  const hosts = guardrails.allowedNetworks;
  if (hosts.length > 0) return check(name, "ok", `code can reach ${hosts.join(", ")}`);
  const notes = ["Name the hosts that it needs: guardrails.allowed_networks"];
  return check(name, "warning", "code can reach everything, also this machine's own network", notes);
}

function checkMounts({ configuration }: SecurityReport): Check {
  const { workspaceDir, mountDirectories } = configuration.config.execution;
  const writable = mountDirectories.filter(({ mode }) => mode === "rw").map(({ host }) => shortPath(host));
  const readable = mountDirectories.filter(({ mode }) => mode === "ro").map(({ host }) => shortPath(host));
  const notes = [readable.length > 0 && `and can read ${readable.join(", ")}`];
  const summary = `code can change ${[shortPath(workspaceDir), ...writable].join(", ")}`;
  return check("mounts", writable.length === 0 ? "ok" : "warning", summary, notes);
}

function checkReview({ configuration }: SecurityReport): Check {
  const { enabled, securityChecks, strictMode } = configuration.config.guardrails;
  const name = "review";
  if (!enabled)
    return check(name, "warning", "off: code runs without a review", [
      "guardrails.enabled: true switches it on",
    ]);
  if (!securityChecks)
    return check(name, "warning", "on, without its checks for dangerous code", [
      "guardrails.security_checks: true switches them on",
    ]);
  const note = !strictMode && "Warnings refuse nothing: guardrails.strict_mode: true refuses on them too";
  return check(name, "ok", "code is reviewed before it runs", [note]);
}

function checkTypes({ configuration }: SecurityReport): Check {
  return configuration.config.execution.typeCheck === "off"
    ? check("types", "warning", "not checked: execution.type_check is off")
    : check("types", "ok", "checked before code runs");
}

function checkTools({ configuration, unpinnedImages }: SecurityReport): Check {
  const { changedTools } = configuration.config.guardrails;
  const notes = unpinnedImages.map(
    ({ server, image }) => `${server} runs ${image}, which can change behind its tag: pin it by its digest`,
  );
  const held = changedTools === "hold";
  return check(
    "tools",
    held && notes.length === 0 ? "ok" : "warning",
    held
      ? "what MCP servers change in their tools is held back until you accept it"
      : "changes of MCP servers to their tools are accepted without asking: set guardrails.changed_tools: hold",
    notes,
  );
}

function checkServing({ configuration }: SecurityReport): Check {
  const { authToken, authIssuer, host } = configuration.config.server;
  const name = "serving";
  if (authIssuer !== undefined) return check(name, "ok", `clients over HTTP need a token of ${authIssuer}`);
  if (authToken !== undefined) return check(name, "ok", "clients over HTTP need the token");
  const notes = [
    "Every user and program of this machine can call it: set server.auth_token (CEM_SERVER_TOKEN)",
  ];
  return LOOPBACK.test(host)
    ? check(name, "warning", `clients over HTTP need no token, on ${host} only`, notes)
    : check(name, "ok", `cem serve http refuses ${host} without a token`);
}
