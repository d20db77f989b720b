import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseTar } from "nanotar";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findGuestRuntime, type GuestRuntime } from "./guest-runtime.ts";
import { prepareImage } from "./image.ts";
import { loadSdk, type Microsandbox } from "./load-sdk.ts";
import { listMachines } from "./machines.ts";
import { buildOwnImage } from "./own-image.ts";

interface Manifest {
  layers: { digest: string; size: number }[];
}

describe.skipIf(process.platform !== "linux")("images of machines", () => {
  const home = mkdtempSync(join(tmpdir(), "cem-msb-"));
  let sdk: Microsandbox;
  let runtime: GuestRuntime;
  beforeAll(async () => {
    process.env["MSB_API_KEY"] = "key-of-a-cloud";
    sdk = await loadSdk(home);
    // As large as any file: what is in it does not matter to an image.
    const denoPath = join(home, "deno");
    writeFileSync(denoPath, "#!/bin/sh\n");
    runtime = findGuestRuntime(denoPath);
  });
  afterAll(() => {
    delete process.env["MSB_API_KEY"];
    rmSync(home, { recursive: true, force: true });
  });

  it("stay on this host, whatever key the environment holds", async () => {
    expect(sdk.defaultBackendKind()).toBe("local");
    expect(await listMachines(home)).toEqual([]);
  });

  it("keep to one folder in a process", () => {
    expect(() => loadSdk(join(home, "other"))).toThrow(/needs another process/);
  });

  it("are made of this host's C library and the runtime, each part with its digest", () => {
    const archive = parseTar(buildOwnImage(runtime) as Buffer);
    const part = (name: string) => Buffer.from(archive.find((entry) => entry.name === name)?.data ?? []);
    const { manifests } = JSON.parse(part("index.json").toString()) as { manifests: { digest: string }[] };
    const blob = (digest: string) => part(`blobs/sha256/${digest.replace("sha256:", "")}`);
    const manifest = JSON.parse(blob(manifests[0]?.digest ?? "").toString()) as Manifest;
    const [layer] = manifest.layers;
    const bytes = blob(layer?.digest ?? "");
    expect(`sha256:${createHash("sha256").update(bytes).digest("hex")}`).toBe(layer?.digest);
    const names = parseTar(bytes).map(({ name }) => name);
    expect(names).toContain("cem/deno");
    expect(names).toContain("cem/guest/boot.ts");
    expect(names).toContain("cem/guest/inside/");
    expect(names).toContain("cem/guest/inside/client.ts");
    expect(names.some((name) => name.endsWith("libc.so.6"))).toBe(true);
  });

  it("are loaded once", async () => {
    const first = await prepareImage(sdk, { home, image: undefined, runtime });
    expect(first).toEqual({ name: `cem-guest:${runtime.key}`, hasRuntime: true });
    const handle = await sdk.Image.get(first.name);
    expect(handle.layerCount).toBe(1);
    const started = performance.now();
    expect(await prepareImage(sdk, { home, image: undefined, runtime })).toEqual(first);
    expect(performance.now() - started).toBeLessThan(20_000);
  });

  it("may be an archive, a folder or a reference", async () => {
    const archive = join(home, "own.tar");
    writeFileSync(archive, buildOwnImage(runtime) as Buffer);
    const loaded = await prepareImage(sdk, { home, image: archive, runtime });
    expect(loaded).toEqual({ name: expect.stringMatching(/^cem-archive:[0-9a-f]{16}$/), hasRuntime: false });
    expect(await prepareImage(sdk, { home, image: home, runtime })).toEqual({
      name: home,
      hasRuntime: false,
    });
    const reference = "registry.example.com/team/image:1";
    expect(await prepareImage(sdk, { home, image: reference, runtime })).toMatchObject({ name: reference });
  });

  it.each([
    ["is not there", "/nowhere/image.tar", /nothing at that path/],
    ["is no archive", "own.txt", /neither a folder nor an archive/],
    ["is broken", "broken.tar", /can't be loaded/],
    ["is relative", "./image.tar", /has to be absolute/],
  ])("are refused where the path %s", async (_, name, problem) => {
    for (const file of ["own.txt", "broken.tar"]) writeFileSync(join(home, file), "not an image");
    const image = /^[./]/.test(name) ? name : join(home, name);
    await expect(prepareImage(sdk, { home, image, runtime })).rejects.toMatchObject({
      code: "SANDBOX_IMAGE_UNUSABLE",
      message: expect.stringMatching(problem),
    });
  });
});
