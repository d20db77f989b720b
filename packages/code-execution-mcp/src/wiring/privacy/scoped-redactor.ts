import { tokenizeInTurns } from "@cem/core";
import type { Redactor } from "@cem/core";

/** Sessions that are remembered, to forget their values with the owner. As many as a redactor keeps. */
const MAX_SESSIONS = 10_000;
const OF_SCOPE = /^customer ([a-z0-9_-]+) /u;

/** A redactor whose sessions are those of one owner. */
export interface ScopedRedactor extends Redactor {
  /** Forgets the values of all of the owner's sessions. */
  forget(): Promise<void>;
}

/** Those of each owner, so that none is scoped twice. */
const scoped = new WeakMap<Redactor, { id: string; made: ScopedRedactor }>();

/**
 * Gives an owner sessions of its own in a redactor that others use too: a token of another's session, be it of the same
 * name, stands for nothing.
 */
export function scopeRedactor(redactor: Redactor, id: string): ScopedRedactor {
  const known = scoped.get(redactor);
  if (known?.id === id) return known.made;
  const sessions = new Set<string>();
  const nameOf = (session = ""): string => {
    const name = `customer ${id} ${session}`;
    if (!sessions.has(name)) {
      const [oldest] = sessions;
      if (sessions.size >= MAX_SESSIONS && oldest !== undefined) sessions.delete(oldest);
      sessions.add(name);
    }
    return name;
  };
  const own = <Scope extends { session?: string | undefined }>(scope: Scope): Scope => ({
    ...scope,
    session: nameOf(scope.session),
  });
  const made: ScopedRedactor = {
    specificationVersion: "v1",
    guest: redactor.guest,
    tracksOrigins: redactor.tracksOrigins,
    tokenize: (data, scope) => redactor.tokenize(data, own(scope)),
    tokenizePart: (text, range, scope) => redactor.tokenizePart(text, range, own(scope)),
    keep: (value, type, scope) => redactor.keep(value, type, own(scope)),
    observe: (data, scope) => redactor.observe(data, own(scope)),
    detokenize: (args, target) => redactor.detokenize(args, own(target)),
    reveal: (code, scope) => redactor.reveal(code, own(scope)),
    openStream: (scope) => redactor.openStream(own(scope)),
    async endSession(session) {
      const name = nameOf(session);
      sessions.delete(name);
      await redactor.endSession(name);
    },
    async forget() {
      await Promise.all([...sessions].map((name) => redactor.endSession(name)));
      redactor.forgetWorkspace?.(nameOf());
      sessions.clear();
    },
    dispose: () => redactor.dispose(),
  };
  if (redactor.tokenizeInTurns !== undefined)
    made.tokenizeInTurns = async (data, scope) => tokenizeInTurns(redactor, data, own(scope));
  if (redactor.tokenizeFile !== undefined)
    made.tokenizeFile = async (text, scope) => redactor.tokenizeFile?.(text, own(scope)) ?? text;
  if (redactor.observeInTurns !== undefined)
    made.observeInTurns = async (data, scope) => redactor.observeInTurns?.(data, own(scope));
  if (redactor.recognize !== undefined)
    made.recognize = async (data, scope) => redactor.recognize?.(data, own(scope));
  if (redactor.restore !== undefined) made.restore = async (session) => redactor.restore?.(nameOf(session));
  if (redactor.persist !== undefined) made.persist = async (session) => redactor.persist?.(nameOf(session));
  scoped.set(made, { id, made });
  return made;
}

/** The owner that a session of a scoped redactor is of. */
export function scopeOfSession(session: string): string | undefined {
  return OF_SCOPE.exec(session)?.[1];
}
