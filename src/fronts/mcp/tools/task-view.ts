import { isJsonObject, type JsonObject } from '../../../lib/json.ts'
import { compact } from './compact.ts'

/** A task of the API, with what was said in it as text. Pure. */
export function shortTask(task: JsonObject): JsonObject {
  const { status, history, artifacts, ...rest } = task
  const { message } = isJsonObject(status) ? status : {}
  return {
    ...compact(rest),
    ...(isJsonObject(message) ? { statusMessage: said(message) } : {}),
    history: listOf(history).map(said),
    ...(artifacts === undefined ? {} : { artifacts: listOf(artifacts).map(said) }),
  }
}

/** A message or an artifact: its text parts as one text, the other parts as they are. Bytes are named, not shown. */
function said({ parts, taskId: _task, contextId: _context, ...rest }: JsonObject): JsonObject {
  const all = listOf(parts)
  const texts = all.flatMap(({ text }) => (typeof text === 'string' ? [text] : []))
  const others = all.filter(({ text }) => typeof text !== 'string').map(withoutBytes)
  return {
    ...compact(rest),
    ...(texts.length > 0 ? { text: texts.join('\n') } : {}),
    ...(others.length > 0 ? { parts: others } : {}),
  }
}

function withoutBytes(part: JsonObject): JsonObject {
  const { raw, ...rest } = part
  return typeof raw === 'string' ? { ...rest, raw: `${Math.floor((raw.length * 3) / 4)} bytes, not shown` } : part
}

function listOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}
