import { describe, expect, it } from "vitest";
import { load, problems } from "../test/config-folder.ts";

async function mount(yaml: string): Promise<unknown> {
  const { config } = await load(`execution: {mount_directories: [${yaml}]}`);
  return config.execution.mountDirectories[0];
}

describe("execution.mount_directories", () => {
  it.each([
    ["/data", { host: "/data", guest: "/workspace/mounts/data", mode: "ro" }],
    ["'/data:rw'", { host: "/data", guest: "/workspace/mounts/data", mode: "rw" }],
    ["'/data:/in'", { host: "/data", guest: "/in", mode: "ro" }],
    ["'/data:/in:ro'", { host: "/data", guest: "/in", mode: "ro" }],
    ["'/data:/in/:rw'", { host: "/data", guest: "/in", mode: "rw" }],
    ["/a b/ü/", { host: "/a b/ü", guest: "/workspace/mounts/ü", mode: "ro" }],
    ["{host: /data, guest: /in, mode: rw}", { host: "/data", guest: "/in", mode: "rw" }],
    ["{host: '/a:b'}", { host: "/a:b", guest: "/workspace/mounts/a:b", mode: "ro" }],
  ])("takes %s", async (yaml, expected) => {
    expect(await mount(yaml)).toEqual(expected);
  });

  it.each([
    ["'/data:/in:rx'", 'is not "host", "host:guest" or "host:guest:rw".'],
    ["':/in'", 'is not "host", "host:guest" or "host:guest:rw".'],
    ["'/data:in'", 'is not "host", "host:guest" or "host:guest:rw".'],
    ["/", 'has no name to mount it by; write "host:guest".'],
    ["'/data:/workspace'", `can't be mounted on "/workspace"; name an absolute folder below /.`],
    ["'/data:/x/../workspace/'", `can't be mounted on "/workspace"; name an absolute folder below /.`],
    ["'/data:/..'", `can't be mounted on "/"; name an absolute folder below /.`],
    ["{host: /data, guest: in}", `can't be mounted on "in"; name an absolute folder below /.`],
    ["{guest: /in}", "is missing. It takes text."],
    ["[x]", "is a list. Allowed: text, or a section with host, guest, mode."],
  ])("refuses %s", async (yaml, message) => {
    expect(await problems(`execution: {mount_directories: [${yaml}]}`)).toMatchObject([{ message }]);
  });

  it("refuses two mounts on one place", async () => {
    const found = await problems("execution: {mount_directories: [/a/data, /b/data]}");
    expect(found).toMatchObject([
      {
        path: "execution.mount_directories[1]",
        message: "is a second mount on /workspace/mounts/data; give each its own guest path.",
      },
    ]);
  });
});
