import { type Node, ObjectFlags, Project, type Symbol as TsSymbol, type Type } from 'ts-morph'

export type Schema = { readonly [keyword: string]: unknown }

/** The fields whose number may have a fraction: all others are integers. */
const withFraction = ['coalesceWindow']

/**
 * Makes JSON Schemas of TypeScript types as the compiler resolves them, so that no answer is described twice. An interface, and an
 * alias of an object, becomes a component under its name, without "View" at its end. Comments become descriptions.
 */
export class TypeSchemas {
  readonly components: Record<string, Schema> = {}
  readonly #owners = new Map<string, TsSymbol>()
  readonly #project: Project
  /** The compiler asks from where a field is seen. */
  #place: Node | undefined

  constructor(root: string) {
    this.#project = new Project({ tsConfigFilePath: `${root}/tsconfig.json`, skipAddingFilesFromTsConfig: true })
  }

  /** Returns a type of a file. */
  load(file: string, name: string): Type {
    const source = this.#project.addSourceFileAtPath(file)
    this.#place ??= source
    return (source.getTypeAlias(name) ?? source.getInterfaceOrThrow(name)).getType()
  }

  /** Returns the type of each field of a type. */
  fieldsOf(type: Type): Readonly<Record<string, Type>> {
    return Object.fromEntries(type.getProperties().map((field) => [field.getName(), this.#typeOf(field)]))
  }

  #typeOf(field: TsSymbol): Type {
    return field.getTypeAtLocation(this.#place!)
  }

  /** Returns the schema of a type without `undefined`; undefined where there is nothing else, as of `void`. */
  ofAny(type: Type): Schema | undefined {
    const forms = (type.isUnion() ? type.getUnionTypes() : [type]).filter(
      (form) => !form.isUndefined() && !form.isVoid() && !form.isNever(),
    )
    return forms.length === 0 ? undefined : this.#anyOf(forms)
  }

  of(type: Type): Schema {
    if (type.isUnknown() || type.isAny()) return {}
    if (type.isNull()) return { type: 'null' }
    if (type.isString() || type.isTemplateLiteral()) return { type: 'string' }
    if (type.isNumber()) return { type: 'integer' }
    if (type.isBoolean()) return { type: 'boolean' }
    if (type.isBooleanLiteral()) return { type: 'boolean', const: type.getText() === 'true' }
    if (type.isStringLiteral() || type.isNumberLiteral()) {
      return { type: type.isStringLiteral() ? 'string' : 'integer', const: type.getLiteralValue() }
    }
    if (type.isUnion()) return this.ofAny(type)!
    if (type.isTuple()) return this.#tuple(type.getTupleElements())
    if (type.isArray() || type.isReadonlyArray()) {
      const item = type.getArrayElementTypeOrThrow()
      return item.isNever() ? { type: 'array', maxItems: 0 } : { type: 'array', items: this.of(item) }
    }
    if (type.getText() === 'object') return { type: 'object' }
    if (type.isObject() || type.isIntersection()) return this.#object(type)
    throw new Error(`No JSON Schema is known for the type ${type.getText()}.`)
  }

  /** The compiler does not keep the order of a union: forms are sorted. */
  #anyOf(forms: readonly Type[]): Schema {
    const booleans = forms.filter((form) => form.isBooleanLiteral())
    const others = forms.filter((form) => !form.isLiteral() && !form.isNull())
    const schemas = [
      ...enumOf(
        'string',
        forms.filter((form) => form.isStringLiteral()),
      ),
      ...enumOf(
        'integer',
        forms.filter((form) => form.isNumberLiteral()),
      ),
      ...(booleans.length === 2 ? [{ type: 'boolean' }] : booleans.map((form) => this.of(form))),
      ...others.map((form) => this.of(form)),
    ].sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1))
    const [only] = schemas
    if (!forms.some((form) => form.isNull())) return schemas.length === 1 && only ? only : { anyOf: schemas }
    if (schemas.length === 1 && typeof only?.type === 'string' && !('const' in only) && !('enum' in only)) {
      return { ...only, type: [only.type, 'null'] }
    }
    return { anyOf: [...schemas, { type: 'null' }] }
  }

  #tuple(elements: readonly Type[]): Schema {
    const { length } = elements
    return {
      type: 'array',
      prefixItems: elements.map((element) => this.of(element)),
      minItems: length,
      maxItems: length,
    }
  }

  #object(type: Type): Schema {
    if (type.getCallSignatures().length > 0) throw new Error(`${type.getText()} is a function: it has no JSON.`)
    if (isOfLibrary(type.getSymbol()) && !isMapped(type)) return { type: 'object' }
    const symbol = nameable(type)
    if (!symbol) return this.#fields(type)
    const name = symbol.getName().replace(/View$/, '')
    const owner = this.#owners.get(name)
    if (owner === undefined) {
      this.#owners.set(name, symbol)
      const description = textOf(symbol)
      this.components[name] = { ...(description === '' ? {} : { description }), ...this.#fields(type) }
    } else if (owner !== symbol) throw new Error(`Two types are called ${name}.`)
    return { $ref: `#/components/schemas/${name}` }
  }

  #fields(type: Type): Schema {
    const fields = type.getProperties().flatMap((field): [string, Schema, boolean][] => {
      const found = this.#typeOf(field)
      const description = textOf(field)
      const schema = withFraction.includes(field.getName()) ? { type: 'number' } : this.ofAny(found)
      if (!schema) return []
      const mayMiss =
        field.isOptional() || (found.isUnion() && found.getUnionTypes().some((form) => form.isUndefined()))
      return [[field.getName(), description === '' ? schema : { ...schema, description }, !mayMiss]]
    })
    const required = fields.filter(([, , isRequired]) => isRequired).map(([name]) => name)
    const others = type.getStringIndexType()
    return {
      type: 'object',
      ...(fields.length === 0 ? {} : { properties: Object.fromEntries(fields) }),
      ...(required.length === 0 ? {} : { required }),
      ...(others === undefined ? {} : { additionalProperties: others.isUnknown() ? true : this.of(others) }),
    }
  }
}

function enumOf(type: string, forms: readonly Type[]): Schema[] {
  const values = forms.map((form) => form.getLiteralValue()).sort()
  if (values.length === 0) return []
  return [values.length === 1 ? { type, const: values[0] } : { type, enum: values }]
}

/** The name that a type of the sources has; undefined for one that is written where it is used, and for one with parameters. */
function nameable(type: Type): TsSymbol | undefined {
  const alias = type.getAliasSymbol()
  const symbol = alias ?? (type.isInterface() ? type.getSymbol() : undefined)
  const parameters = alias ? type.getAliasTypeArguments() : type.getTypeArguments()
  return parameters.length > 0 || type.getProperties().length === 0 || isOfLibrary(symbol) ? undefined : symbol
}

function isOfLibrary(symbol: TsSymbol | undefined): boolean {
  return symbol?.getDeclarations().some((one) => /\/node_modules\//.test(one.getSourceFile().getFilePath())) === true
}

/** True of `Omit`, `Record` and their like, which the library declares, with the fields of a type of the sources. */
function isMapped(type: Type): boolean {
  return (type.getObjectFlags() & ObjectFlags.Mapped) !== 0
}

/** The comment of a type or of a field, without the numbers of requirements. */
function textOf(symbol: TsSymbol): string {
  const [declaration] = symbol.getDeclarations()
  if (!declaration) return ''
  const parts = symbol.compilerSymbol.getDocumentationComment(undefined)
  return parts
    .map(({ text }) => text)
    .join('')
    .replace(/\s*Source: [^.]*\.(?=\s|$)/g, '')
    .replace(/\s+/g, ' ')
    .trim()
}
