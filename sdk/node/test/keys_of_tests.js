/** Keys that are no secrets. */

export const PRODUCT_KEY = `af_live_${'0123456789abcdef'.repeat(2)}_${'00112233445566778899aabbccddeeff'}_${'s'.repeat(43)}`;
export const COMPANY_KEY = `af_company_${'0123456789abcdef'.repeat(2)}_${'s'.repeat(43)}`;
