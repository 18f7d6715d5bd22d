import type { Scope } from '../../words/callers.ts'

/**
 * The resources on which an agent may use an operation. `project`: everything in its project. `own`: its own. `party`: those in which it
 * takes part, as sender, recipient, originator or assignee. `granted`: its own, and those of agents that granted it.
 * `contacts`: agents that accept mail from it. `welcome`: agents that accept its messages over A2A. `never`: nothing.
 * A rule that needs stored data is checked where that data is read; the word here names the rule.
 */
export type Reach = 'project' | 'own' | 'party' | 'granted' | 'contacts' | 'welcome' | 'never'

/**
 * Which operators may use an operation: `any` that has the project, `admin` only, `own` on what is the operator's own, such as
 * mail that was sent to it, or `never`, because only an agent can.
 */
export type OperatorReach = 'any' | 'admin' | 'own' | 'never'

/**
 * When the audit records a success. `first`: before the answer. `soon`: within 100 ms. `operator`: within 100 ms when an operator
 * did it, because it shows others' mail. `no`: never. Refusals are always recorded.
 */
export type AuditRule = 'first' | 'soon' | 'operator' | 'no'

/** One row of the table of who may do what. */
export interface Operation {
  /** The name in the audit, e.g. `key.make` or `SendMessage`. */
  readonly name: string
  /** The act, after "Only the operator may": `register agents`. */
  readonly what: string
  /** `any`: every key may, about itself. Another key takes `mint`, and another token `manage`: the domain checks that. */
  readonly scope: Scope | 'any'
  /** A second scope that it takes. */
  readonly also?: Scope
  readonly operator: OperatorReach
  /** An agent, on things of its own project. */
  readonly agent: Reach
  /** An agent of another project, on things of this one. */
  readonly peer: Reach
  readonly audited: AuditRule
  /** It revokes keys, tokens or permissions, or lists them for that: each key may do so whatever its agent has used up. */
  readonly isRevocation?: true
}

/** An operation that has a method and a path of its own, e.g. `GET /v1/agents/:handle`. */
export interface RestOperation extends Operation {
  readonly route: string
}
