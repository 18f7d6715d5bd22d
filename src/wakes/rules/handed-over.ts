/** How a message reached its recipient by another route than a wake. Instants in ms since the epoch. */
export interface HandedOver {
  readonly at: number
  readonly isUnread: boolean
  /** When the session ended that took it with an answer and left it unread; null: that session is live, or the message is read. */
  readonly lostAt: number | null
}
