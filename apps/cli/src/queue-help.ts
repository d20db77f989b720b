export const WORKER = `
Takes runs from the queue that queue.url (CEM_QUEUE_URL) names, which  cem serve  puts there with the same setting. Both
need the same configuration, and folders of customers and workspaces that all machines reach. SIGTERM or Ctrl-C: it takes
no more runs and ends once those under way are finished, or after queue.drain_grace, when they go to other workers. A worker that
is killed gives its runs back.

Examples:
  CEM_QUEUE_URL=redis://127.0.0.1:6379/0 cem worker
  cem worker --port 3001                      with /healthz and /readyz for an orchestrator
  cem queue                                   how many runs wait`;

export const QUEUE = `
Runs that no worker could carry out are kept for a week. One that is retried is repeated only where its calls so far do no
harm twice.

Examples:
  cem queue                                   how many runs wait, are under way, and failed
  cem queue failed                            those that no worker could carry out
  cem queue retry run-1f0c2a9b`;

export const STORE = `
Seals all values in the store that store.url (CEM_STORE_URL) names with the first of store.keys (CEM_STORE_KEYS), while
servers and workers go on. To change keys: give every machine the new key second, then first, then reseal, then leave the
old one out.

Examples:
  CEM_STORE_KEYS=new:...,old:... cem store reseal`;
