import { z } from 'zod'
import { Problem } from '../../errors.ts'
import type { JsonObject } from '../../lib/json.ts'
import { parse } from '../validate.ts'

/**
 * The shapes that the SDK's v0.3 translator assumes without a check. They replace its exceptions by an error that names the field.
 * What the translator reads leniently, such as a number for an id, passes here too. Fields that were null are gone.
 */
const metadata = z.record(z.string(), z.unknown()).optional()
const list = z.array(z.unknown()).optional()
const text = z.string().optional()

const file = z.looseObject({ bytes: text, uri: text, name: text, mimeType: text })
const part = z.discriminatedUnion(
  'kind',
  [
    z.looseObject({ kind: z.literal('text'), text: z.string(), metadata }),
    z.looseObject({ kind: z.literal('file'), file, metadata }),
    z.looseObject({ kind: z.literal('data'), metadata }),
  ],
  { error: 'must be "text", "file" or "data"' },
)
const message = z.looseObject({ parts: z.array(part), extensions: list, referenceTaskIds: list, metadata })

const pushConfig = z.looseObject({
  authentication: z.looseObject({ schemes: z.array(z.string()).optional(), credentials: text }).optional(),
})
const configuration = z.looseObject({ acceptedOutputModes: list, pushNotificationConfig: pushConfig.optional() })

const sending = z.looseObject({ message, configuration: configuration.optional(), metadata })
const schemas: Record<string, z.ZodType> = {
  'message/send': sending,
  'message/stream': sending,
  'tasks/cancel': z.looseObject({ metadata }),
  'tasks/pushNotificationConfig/set': z.looseObject({ pushNotificationConfig: pushConfig }),
}

/** Names the field of a v0.3 call's parameters that cannot be read, and says why. Undefined: all can be read. */
export function legacyParamsFlaw(method: string, params: JsonObject): string | undefined {
  try {
    if (Object.hasOwn(schemas, method)) parse(schemas[method]!, params)
    return undefined
  } catch (error) {
    if (error instanceof Problem) return error.message
    throw error
  }
}
