import { type JSONRPCRequest, ResourceTemplate } from '@modelcontextprotocol/server'
import { cutText } from '../../lib/cut-text.ts'
import { oneLine, shownText } from '../../lib/words.ts'
import { sizeLimits } from '../../limits.ts'
import { promptNames } from './prompts/prompts.ts'
import { resourceKinds, uriOf } from './resources/uris.ts'
import type { AnyTool } from './tools/tool.ts'

/** Characters of a name that are repeated. */
const shownMax = 100

const knownPrompts: ReadonlySet<unknown> = new Set(promptNames)
const templates = resourceKinds.map(
  (kind) => new ResourceTemplate(uriOf(kind, '{name}'), { list: undefined }).uriTemplate,
)

/**
 * Returns what is wrong with the tool, the prompt or the resource that a request names; undefined: the server has it, or the request names
 * none. The library would repeat any name as it came. Pure.
 */
export function unknownName(
  { method, params = {} }: Pick<JSONRPCRequest, 'method' | 'params'>,
  tools: readonly AnyTool[],
): string | undefined {
  switch (method) {
    case 'tools/call':
      return tools.some(({ name }) => name === params.name)
        ? undefined
        : `There is no tool ${quoted(params.name)}. tools/list names them.`
    case 'prompts/get':
      return knownPrompts.has(params.name)
        ? undefined
        : `There is no prompt ${quoted(params.name)}. prompts/list names them.`
    case 'resources/read':
      return uriFlaw(String(params.uri))
    default:
      return undefined
  }
}

function uriFlaw(uri: string): string | undefined {
  const { max } = sizeLimits.url
  if (uri.length > max)
    return `uri: is longer than ${max} characters. Send the URI of a resource that resources/list names.`
  if (URL.canParse(uri) && templates.some((template) => template.match(new URL(uri).href))) return undefined
  return `There is no resource ${quoted(uri)}. resources/list and resources/templates/list name them.`
}

function quoted(name: unknown): string {
  return `"${shownLine(String(name), shownMax)}"`
}

/** The beginning of a text of the client, as one line that looks the same to a person and to a model. Pure. */
export function shownLine(text: string, max: number): string {
  const beginning = cutText(text, max)
  return `${oneLine(shownText(beginning))}${beginning === text ? '' : '…'}`
}
