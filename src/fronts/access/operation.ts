import type { Scope } from '../../registry/callers/scopes.ts'

/**
 * On what an operation is open to an agent. `project`: everything in its project. `own`: what is its own. `party`: what it takes
 * part in, as sender, recipient, originator or assignee. `granted`: its own, and another's with that agent's permission.
 * `contacts`: agents that take mail from it. `welcome`: agents that take its messages over A2A. `never`: nothing.
 * Rules that need a row that was read are checked where it is read; the word here says which.
 */
export type Reach = 'project' | 'own' | 'party' | 'granted' | 'contacts' | 'welcome' | 'never'

/**
 * Which operators: `any` that has the project, `admin` only, `own` where it is the operator's own, such as mail that was sent to it,
 * or none, because only an agent can.
 */
export type OperatorReach = 'any' | 'admin' | 'own' | 'never'

/**
 * What the audit keeps of it when it succeeds. `first`: written before it is answered. `soon`: written within 100 ms.
 * `operator`: written soon when an operator did it, because it shows others' mail. `no`: nothing. What is refused is always kept.
 */
export type Audited = 'first' | 'soon' | 'operator' | 'no'

/** One row of the table of who may do what. */
export interface Operation {
  /** The name in the audit, e.g. `key.make` or `SendMessage`. */
  readonly name: string
  /** What it does, after "Only the operator may": `register agents`. */
  readonly what: string
  /** `any`: every key may, about itself; another key takes `mint` and another token `manage`, which the domain sees to. */
  readonly scope: Scope | 'any'
  readonly operator: OperatorReach
  /** An agent, on what is of its own project. */
  readonly agent: Reach
  /** An agent of another project, on what is of this one. */
  readonly peer: Reach
  readonly audited: Audited
}

/** An operation that has a method and a path of its own, e.g. `GET /v1/agents/:handle`. */
export interface RestOperation extends Operation {
  readonly route: string
}
