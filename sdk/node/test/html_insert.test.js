import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { insertElement, readPage } from '../src/html_insert.js';
import { bounded } from './bounded.js';
import { bodyOf, cases } from './vectors.js';

describe('html_insert', () => {
  for (const { name, input, expected } of cases('html_insert')) {
    it(name, () => {
      const body = insertElement(bodyOf(input), input.elementId, input.json);
      assert.equal(body && Buffer.from(body).toString(), expected);
    });
  }

  it('tells a page that has the id from one whose markup is ambiguous', () => {
    assert.deepEqual(readPage(Buffer.from('<p id=x>')), { offset: 8, ids: new Set(['x']) });
    assert.equal(readPage(Buffer.from('<p title="x>')), null);
  });

  const pages = {
    'comments in a script': `<script>${'<!--'.repeat(250_000)}</script>`,
    'comments that end with a bang': `<!--${'--!><!--'.repeat(120_000)}-->`,
    'comments of which the last alone ends without one': `${'<!--a--!>'.repeat(120_000)}<!-- -->`,
  };
  for (const [name, page] of Object.entries(pages)) {
    it(`reads a large page: ${name}`, () => {
      assert.equal(bounded(() => readPage(Buffer.from(page)))?.offset, page.length);
    });
  }

  it('takes a comment that ends with a bang for one that ends', () => {
    assert.equal(readPage(Buffer.from('<!-- a --!></head>'))?.offset, 11);
  });

  it('leaves the bytes around the element, in any charset', () => {
    const piece = fc.constantFrom(
      '<head>',
      '</head>',
      '<!--',
      '-->',
      '<p a="',
      '"',
      '>',
      '<script>',
      '</script>',
      'é',
      '<',
    );
    const property = fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const page = Buffer.from(pieces.join(''), 'latin1');
      const body = insertElement(page, 'x', '1');
      const element = '<script id="x" type="application/json">1</script>';
      assert.equal(
        body === null || Buffer.from(body).toString('latin1').replace(element, '') === page.toString('latin1'),
        true,
      );
    });
    fc.assert(property);
  });
});
