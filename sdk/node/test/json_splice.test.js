import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { spliceMembers } from '../src/json_splice.js';
import { bodyOf, cases } from './vectors.js';

const MEMBER = '_agentFeedback';

describe('json_splice', () => {
  for (const { name, input, expected, alsoAllowed = [] } of cases('json_splice')) {
    it(name, () => {
      const body = spliceMembers(bodyOf(input), { [input.member]: input.json });
      const text = body && Buffer.from(body).toString();
      assert.ok([expected, ...alsoAllowed].includes(text), text ?? 'null');
    });
  }

  it('leaves every byte of any object, and adds the member as its last one', () => {
    const whiteSpace = fc.string({ unit: fc.constantFrom(' ', '\t', '\r', '\n'), maxLength: 3 });
    const property = fc.property(
      fc.dictionary(fc.string(), fc.jsonValue()),
      whiteSpace,
      whiteSpace,
      (object, head, tail) => {
        fc.pre(!Object.hasOwn(object, MEMBER));
        const inside = Object.keys(object).length === 0 ? head : '';
        const text = head + JSON.stringify(object).slice(0, -1) + inside + '}' + tail;
        const body = Buffer.from(spliceMembers(Buffer.from(text), { [MEMBER]: '{"v":1}' })).toString();
        const addition = `${Object.keys(object).length ? ',' : ''}"${MEMBER}":{"v":1}`;
        assert.equal(body.replace(`${addition}}${tail}`, `}${tail}`), text);
        assert.deepEqual(Object.keys(JSON.parse(body)).at(-1) && JSON.parse(body)[MEMBER], { v: 1 });
      },
    );
    fc.assert(property);
  });

  it('leaves alone whatever is no JSON, and never fails', () => {
    const property = fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      const body = spliceMembers(bytes, { [MEMBER]: 'null' });
      assert.ok(body === null || JSON.parse(Buffer.from(body).toString())[MEMBER] === null);
    });
    fc.assert(property);
  });

  it('goes through 10,000 levels', () => {
    const text = `{"a":${'['.repeat(10_000)}${']'.repeat(10_000)}}`;
    const body = spliceMembers(Buffer.from(text), { [MEMBER]: '1' });
    assert.equal(Buffer.from(body).toString(), `${text.slice(0, -1)},"${MEMBER}":1}`);
  });
});
