import type { RunRecords, SessionRecord } from "@cem/core";
import type { QueueFigures } from "./history-schemas.ts";

/** A workflow of the configuration. */
export interface ConfiguredWorkflow {
  name: string;
  description: string;
  version: string;
  steps: number;
}

/** A run of a workflow. */
export interface WorkflowRun {
  run: string;
  workflow: string;
  version: string;
  status: string;
  startedAt: string;
  updatedAt: string;
  ms: number;
}

/** Workflows and their runs. */
export interface ConsoleWorkflows {
  list(): Promise<readonly ConfiguredWorkflow[]>;
  /** @throws CemError `WORKFLOW_NOT_FOUND` or `WORKFLOW_INVALID` */
  draw(name: string): Promise<readonly DrawnStep[]>;
  runs(): Promise<readonly WorkflowRun[]>;
  /** @throws CemError `WORKFLOW_RUN_NOT_FOUND` or `WORKFLOW_RUN_UNREADABLE` */
  run(id: string): Promise<WorkflowRunDetails>;
}

/** A step of a workflow as it is drawn: how deep it stands, and in which group of steps that can run at once. */
export interface DrawnStep {
  depth: number;
  group: number;
  text: string;
  detail: string;
  /** The steps of its list that it waits for. */
  after: readonly string[];
}

/** A run of a workflow with what became of its steps. */
export interface WorkflowRunDetails extends WorkflowRun {
  variables: unknown;
  outputs: unknown;
  error: { code: string; message: string } | null;
  steps: readonly {
    step: string;
    status: string;
    attempts: number;
    error?: { code: string; message: string } | undefined;
  }[];
  /** Steps that may have been executed, which a resume asks about. */
  uncertain: readonly string[];
}

/** A logged session in a list. */
export interface LoggedSession {
  session_id: string;
  started_at: string;
  ended_at: string | null;
  tasks: number;
  lastTask: string;
}

/** The logs of sessions. */
export interface ConsoleSessions {
  list(): Promise<readonly LoggedSession[]>;
  /** @throws CemError `SESSION_NOT_FOUND` */
  read(id: string): Promise<{ session: SessionRecord; recap: string }>;
}

/** A customer with its usage. */
export interface ConsoleCustomer {
  id: string;
  bytes: number;
  entries: number;
  lastUsed: string;
  quotas?:
    | readonly {
        per: string;
        runs: number;
        maxRuns?: number | undefined;
        seconds: number;
        maxSeconds?: number | undefined;
      }[]
    | undefined;
}

/** The customers that a client may see: itself where there are customers, all where one client has the server. */
export interface ConsoleCustomers {
  /** Whether the client is the customer, the only one that it sees. */
  isOwn: boolean;
  list(): Promise<readonly ConsoleCustomer[]>;
  /** Removes everything of a customer. @throws CemError `CUSTOMER_NOT_FOUND` */
  remove(id: string): Promise<void>;
}

/** The stored records that a client may see. Absent ones are not shown to it. */
export interface ConsoleParts {
  records?: Pick<RunRecords, "list" | "read"> | undefined;
  /** The owner of the records to show, where there are records of several clients. */
  owner?: string | undefined;
  sessions?: ConsoleSessions | undefined;
  workflows?: ConsoleWorkflows | undefined;
  customers?: ConsoleCustomers | undefined;
  /** The queue that runs of all customers wait in. */
  queue?: { read(): Promise<QueueFigures> } | undefined;
  /** Memory that a guest may take, in MiB. */
  guestMemoryMb?: number | undefined;
}
