// The JSON value model of the whole node: number tokens stay text, members keep their order.
// Nothing on a proof path may turn a JSON number into a double; `libraries/base/json/json.ts` reads and writes this model.

/** A JSON number as its token (`1.50`, `9007199254740993`, `1e+21`). */
export class JsonNumber {
  readonly token: string
  constructor(token: string) {
    this.token = token
  }
}

/** Members in source order. A Map, so that `__proto__` is a name like any other. */
export type JsonObject = Map<string, JsonValue>

export type JsonValue = null | boolean | string | JsonNumber | JsonValue[] | JsonObject
