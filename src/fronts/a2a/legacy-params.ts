import { z } from 'zod'
import { Problem } from '../../errors.ts'
import type { JsonObject } from '../../lib/json.ts'
import { parse } from '../validate.ts'

/**
 * What v0.3's translator takes for granted. Where it would stumble, the caller is told which field is wrong; what it reads
 * leniently, such as a number for an id, stays as it is.
 */
const metadata = z.record(z.string(), z.unknown()).nullish()
const list = z.array(z.unknown()).nullish()
const text = z.string().nullish()

const file = z.looseObject({ bytes: z.string().optional(), uri: z.string().optional(), name: text, mimeType: text })
// The translator looks into a part's metadata, so that null is none of it.
const partMetadata = z.record(z.string(), z.unknown()).optional()
const part = z.discriminatedUnion(
  'kind',
  [
    z.looseObject({ kind: z.literal('text'), text: z.string(), metadata: partMetadata }),
    z.looseObject({ kind: z.literal('file'), file, metadata: partMetadata }),
    z.looseObject({ kind: z.literal('data'), metadata: partMetadata }),
  ],
  { error: 'must be "text", "file" or "data"' },
)
const message = z.looseObject({ parts: z.array(part), extensions: list, referenceTaskIds: list, metadata })

const pushConfig = z.looseObject({
  authentication: z.looseObject({ schemes: z.array(z.string()).nullish(), credentials: text }).nullish(),
})
const configuration = z.looseObject({ acceptedOutputModes: list, pushNotificationConfig: pushConfig.nullish() })

const sending = z.looseObject({ message, configuration: configuration.nullish(), metadata })
const schemas: Record<string, z.ZodType> = {
  'message/send': sending,
  'message/stream': sending,
  'tasks/cancel': z.looseObject({ metadata }),
  'tasks/pushNotificationConfig/set': z.looseObject({ pushNotificationConfig: pushConfig }),
}

/** Which field of a v0.3 call's parameters cannot be read, and why. */
export function legacyParamsFlaw(method: string, params: JsonObject): string | undefined {
  try {
    if (Object.hasOwn(schemas, method)) parse(schemas[method]!, params)
    return undefined
  } catch (error) {
    if (error instanceof Problem) return error.message
    throw error
  }
}
