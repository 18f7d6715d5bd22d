/** Sentences for clients of the REST API, and what somebody at a terminal does instead. In this order. */
export const problemSentences: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/^Send the header `Authorization: Bearer rk_…`.*/, 'The gateway needs a key.'],
  [
    /If it is private, send a key of its project: Authorization: Bearer rk_…/,
    'If it is private, use a key of its project.',
  ],
  [
    /or ask for one: POST \/v1\/agents\/\{handle\}\/keys\./,
    'or make one: rouse agent key add <handle> --scope <list>.',
  ],
  [/`GET \/v1\/tasks`/g, '`rouse task list`'],
  [/List your tasks to find it\./, '`rouse task list` lists your tasks.'],
  [/`GET \/v1\/events`/g, '`rouse tail --follow`'],
  [/GET \/v1\/sessions lists/, '`rouse session list` lists'],
  [/GET …\/deliveries lists/, '`rouse sub deliveries` lists'],
  [/List them: GET \/v1\/operator-keys\./, 'List them: rouse operator key list.'],
  [/POST \/v1\/sessions(?: \{"surface": "…"\})?\./, 'rouse session start.'],
  [/DELETE \/v1\/agents\/(\S+)\?freeNames=true\./, 'rouse agent rm $1 --free-names.'],
  [/PATCH \/v1\/projects\/\{project\}\./, 'rouse project limits <project> --set <name=number>.'],
  [/the header Rouse-Project/g, '--project'],
  [
    /[Ss]end the `nextPageToken` of the previous page(?:, unchanged)?/,
    'Give the token at the end of the previous page',
  ],
  [/Send the threadId of a message\./, '`rouse inbox` lists your messages.'],
  [/Send with returnImmediately: true/, 'Send without --wait'],
  [/Send a new message with contextId \S+ and referenceTaskIds \[[^\]]*\]\./, 'Send a new message without --task.'],
  [/Continue in a new task that names this one in referenceTaskIds;/, 'Continue in a new task;'],
  [/, in the body or as If-Match: "<version>"/, ''],
  [/\brotateSigningKey: true\b/g, '--rotate-key'],
  [/\b([Ll])eave the field out\b/g, '$1eave it out'],
  [/\bToo big: expected string to have <=(\d+) characters\b/, 'is too long: at most $1 characters'],
]
