/** The resources of the MCP front. An id or a handle is the last part of the path: `rouse://inbox/@donna`. */
export const resourceKinds = ['inbox', 'thread', 'task', 'agent'] as const
export type ResourceKind = (typeof resourceKinds)[number]

/** Pure. */
export function uriOf(kind: ResourceKind, name: string): string {
  return `rouse://${kind}/${name}`
}
