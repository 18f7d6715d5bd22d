import fc from 'fast-check'

const blanks = fc.stringMatching(/^[ \t]{0,3}$/)
const newline = fc.constantFrom('\n', '\r\n')
const words = fc.stringMatching(/^[a-z ,{}[\]"]{0,8}$/)
const comment = fc.oneof(
  words.map((text) => `/*${text}*/`),
  fc.tuple(words, newline).map(([text, eol]) => `//${text}${eol}`),
)
/** White space and comments, as people leave them anywhere. */
const trivia = fc
  .array(
    fc.oneof({ weight: 3, arbitrary: blanks }, { weight: 2, arbitrary: newline }, { weight: 1, arbitrary: comment }),
    {
      maxLength: 3,
    },
  )
  .map((parts) => parts.join(''))

const scalars = fc.oneof(
  fc.integer().map(String),
  fc.constantFrom('true', 'null', '1.5e3'),
  fc.string({ maxLength: 6 }).map((text) => JSON.stringify(text)),
)
const names = fc.constantFrom('mcpServers', 'hooks', 'Stop', 'permissions', 'allow', 'a', 'b', 'model')

interface Member {
  readonly key?: string
  readonly text: string
}

const listed = (open: string, close: string, members: Member[], gaps: string[], trailing: boolean): string => {
  const gap = (at: number) => gaps[at % Math.max(1, gaps.length)] ?? ''
  const parts = members.map(({ text }, at) => `${gap(at)}${text}${gap(at + 1)}`)
  return `${open}${parts.join(',')}${trailing && members.length > 0 ? `,${gap(2)}` : gap(3)}${close}`
}

const { object } = fc.letrec<{ value: string; object: string; array: string }>((tie) => ({
  value: fc.oneof({ maxDepth: 4 }, scalars, tie('object'), tie('array')),
  array: fc
    .tuple(fc.array(tie('value'), { maxLength: 3 }), fc.array(trivia, { maxLength: 4 }), fc.boolean())
    .map(([values, gaps, trailing]) =>
      listed(
        '[',
        ']',
        values.map((text) => ({ text })),
        gaps,
        trailing,
      ),
    ),
  object: fc
    .tuple(
      fc.uniqueArray(fc.tuple(names, trivia, tie('value')), { maxLength: 4, selector: ([name]) => name }),
      fc.array(trivia, { maxLength: 4 }),
      fc.boolean(),
    )
    .map(([members, gaps, trailing]) =>
      listed(
        '{',
        '}',
        members.map(([key, space, value]) => ({ key, text: `${JSON.stringify(key)}${space}:${value}` })),
        gaps,
        trailing,
      ),
    ),
}))

/** JSON with comments, odd white space, either line end, trailing commas, a byte order mark. */
export const jsonDocuments = fc
  .tuple(
    fc.constantFrom('', '\ufeff'),
    trivia,
    fc.oneof({ weight: 9, arbitrary: object }, { weight: 1, arbitrary: fc.constant('') }),
    trivia,
  )
  .map((parts) => parts.join(''))

const tomlValue = fc.oneof(
  fc.integer().map(String),
  fc.constantFrom(
    'true',
    '"x # y"',
    "'''\nraw [mcp_servers.rouse]\n'''",
    '[ 1, 2, # two\n]',
    '{ a = 1 }',
    '1979-05-27T07:32:00Z',
  ),
)
const tomlLine = fc.oneof(
  fc.tuple(fc.integer({ min: 0, max: 99_999 }), tomlValue).map(([number, value]) => `key${number} = ${value}`),
  fc.integer({ min: 0, max: 99_999 }).map((number) => `[table${number}]`),
  fc.integer({ min: 0, max: 99_999 }).map((number) => `[mcp_servers.server${number}]`),
  fc.integer({ min: 0, max: 9 }).map((number) => `[[list${number}]]`),
  fc.stringMatching(/^[a-z =[\]"]{0,9}$/).map((text) => `  # ${text}`),
  fc.constantFrom('', '  '),
)

/** TOML with comments, tables of other servers, multi-line texts, either line end, with or without a last line end. Some have errors. */
export const tomlDocuments = fc
  .tuple(fc.array(tomlLine, { maxLength: 8 }), newline, fc.boolean(), fc.constantFrom('', '\ufeff'))
  .map(([lines, eol, ends, mark]) => mark + lines.join('\n').replaceAll('\n', eol) + (ends ? eol : ''))
