import type { Origin } from "../layer.ts";
import type { Config } from "../schema.ts";
import { isServerUrl } from "../schema-store.ts";
import { type TrustItem, trustItem } from "./trust-item.ts";

/**
 * The queue that files of the folder name: what a client runs would go there, and a worker would run what is in it. On this
 * machine too, where it can be that of the user's own workers.
 */
export function queueItems({ queue }: Config, origins: Readonly<Record<string, Origin>>): TrustItem[] {
  if (queue.url === undefined || origins["queue.url"]?.ofFolder !== true) return [];
  const { host } = new URL(queue.url);
  const text = `sends runs with their code and values to ${host}, and runs what waits there`;
  return [trustItem({ kind: "queue", name: "queue.url", text }, [queue.url, queue.prefix])];
}

/**
 * The store that files of the folder name, wherever it is: values of persons and files of workspaces would go there, and
 * approvals that are remembered in it would count.
 */
export function storeItems({ store }: Config, origins: Readonly<Record<string, Origin>>): TrustItem[] {
  const { files, url } = store;
  const items: TrustItem[] = [];
  if (url !== undefined && origins["store.url"]?.ofFolder === true) {
    const text = `shares values, quotas, approvals and the audit log with ${isServerUrl(url) ? new URL(url).host : url}`;
    items.push(trustItem({ kind: "store", name: "store.url", text }, [url]));
  }
  if (files !== undefined && origins["store.files"]?.ofFolder === true) {
    const text = `shares the files of workspaces in ${files}`;
    items.push(trustItem({ kind: "store", name: "store.files", text }, [files]));
  }
  return items;
}
