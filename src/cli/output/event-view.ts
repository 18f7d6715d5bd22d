import type { EventView } from '../../client/route-types.ts'
import { clip, plain } from '../../client/terminal-text.ts'

const detailLengthMax = 160

export function eventLine({ logId, type, actor, taskId, data, createdAt }: EventView): string {
  const columns = [
    String(logId).padStart(6),
    plain(createdAt),
    plain(type).padEnd(22),
    plain(actor).padEnd(12),
    plain(taskId),
    Object.keys(data).length > 0 ? clip(plain(data), detailLengthMax) : '',
  ]
  return columns.filter(Boolean).join('  ').trimEnd()
}
