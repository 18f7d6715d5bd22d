/** The keywords that the API of every provider takes in the schema of a tool. */
const keywords = ['type', 'description', 'enum', 'properties', 'required', 'additionalProperties', 'items', 'anyOf']
const bounds = ['minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems']

/** Returns the parts of a schema that a provider would refuse, by their paths. Providers see the schema of the arguments; a result may also be null. */
// biome-ignore lint/suspicious/noExplicitAny: a schema is whatever the wire carries
export function faultsOf(schema: any, at: string, isResult = false): string[] {
  const strange = Object.keys(schema).filter((keyword) => ![...keywords, ...bounds].includes(keyword))
  const types = [schema.type ?? (schema.anyOf ? 'any' : undefined)]
    .flat()
    .filter((type) => !isResult || type !== 'null')
  const below = (part: unknown, name: string): string[] => faultsOf(part, `${at}${name}`, isResult)
  return [
    ...strange.map((keyword) => `${at}: ${keyword}`),
    ...(types.length === 1 && typeof types[0] === 'string' && types[0] !== 'null' ? [] : [`${at}: no type`]),
    ...(typeof schema.additionalProperties === 'object' ? [`${at}: additionalProperties`] : []),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, field]) => below(field, `.${name}`)),
    ...(schema.items ? below(schema.items, '[]') : []),
    ...(schema.anyOf ?? []).flatMap((form: unknown) => below(form, '|')),
  ]
}
