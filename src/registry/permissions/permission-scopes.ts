export const permissionScopes = [
  'CAN_REPLY_TO',
  'CAN_READ_INBOX_OF',
  'CAN_READ_MEMORIES_OF',
  'CAN_MANAGE_SUBSCRIPTIONS_OF',
] as const
/** What a grantor allows a grantee to do. Source: S1-26, S1-45. */
export type PermissionScope = (typeof permissionScopes)[number]
