"""What a field may not ask about, and what only sounds like it."""

import pytest

from app.catalog.entries import catalog_file
from app.catalog.sensitive import find_errors, find_sensitive, read_terms
from tests.context_api import ContextApi

MUST_REFUSE = {
    "documents": [
        *("travel.travel_document", "travel.travel_documents", "travel.passportnumber", "travel.visa", "trip.visas"),
        *(
            "profile.identity_document",
            "profile.id_card",
            "profile.idcard",
            "profile.drivers_license",
            "car.license_plate",
        ),
        *(
            "profile.date_of_birth",
            "profile.dateofbirth",
            "Your driver's license",
            "Driving licence class",
            "profile.ssn",
        ),
        *("profile.birth_date", "profile.social_security", "travel.residence_permit", "profile.national_id", "Tax ID"),
    ],
    "money": [
        *("finance.holding", "finance.holdings", "finance.balance", "finance.account_balance", "finance.income_band"),
        *(
            "how much you earn",
            "How much do you earn?",
            "How much money do you make?",
            "finance.salary",
            "finance.wages",
        ),
        *(
            "finance.net_worth",
            "finance.networth",
            "finance.savings",
            "finance.debts",
            "finance.loan",
            "finance.mortgage",
        ),
        *(
            "finance.creditworthiness",
            "finance.credit_score",
            "finance.credit_worthiness",
            "profile.wealth",
            "finance.iban",
        ),
        *("finance.portfolio", "finance.assets", "finance.pension", "finance.bank_account", "finance.tax_bracket"),
        *("What are you worth?", "finance.shares_owned", "finance.solvency", "finance.bankruptcy", "finance.overdraft"),
    ],
    "health": [
        *("which pills do you take", "profile.medication", "profile.medicine", "care.prescription", "care.dosage"),
        *("health.diagnosis", "care.diagnoses", "care.symptom", "care.symptoms", "health.cancer_type", "care.therapy"),
        *("care.mental_health", "profile.allergies", "travel.disability", "travel.disabilities", "travel.wheelchair"),
        *(
            "profile.disabled",
            "Are you disabled?",
            "care.pregnancy",
            "care.fertility",
            "profile.blood_type",
            "care.hiv",
        ),
        *("care.illness", "care.disease", "care.depression", "care.vaccines", "care.addiction", "profile.body_weight"),
        *(
            "care.hearing_aid",
            "travel.reduced_mobility",
            "profile.autism",
            "profile.adhd",
            "care.insulin",
            "care.asthma",
        ),
        *(
            "care.migraine",
            "care.chronic_pain",
            "profile.biometrics",
            "profile.dna",
            "profile.fingerprint",
            "care.surgery",
        ),
    ],
    "person": [
        *("profile.race", "Race or ethnicity", "profile.ethnic_origin", "profile.skin_colour", "profile.nationality"),
        *(
            "profile.faith",
            "profile.religion",
            "profile.church",
            "profile.muslim",
            "profile.catholic",
            "profile.beliefs",
        ),
        *("profile.politics", "profile.political_views", "profile.voting", "profile.party_member", "profile.election"),
        *("profile.trade_union", "profile.tradeunion", "profile.union_membership", "profile.criminal_record"),
        *("profile.sex", "profile.sexuality", "profile.sexual_orientation", "profile.gender", "profile.gay"),
        *("profile.age", "How old are you?", "profile.birthday", "profile.marital_status", "profile.citizenship"),
    ],
}

MUST_PASS = [
    *("sport.race_distance", "photo.credit_line", "site.portfolio_layout", "shop.worth_waiting", "food.healthy_choice"),
    *("img.asset_format", "trip.party_size", "work.balanced_pace", "plan.billing_cycle", "news.page_length"),
    *("Trips that are worth waiting for", "Which race do you run?", "Half marathon race pace", "game.race_mode"),
    *(
        "photo.white_balance",
        "work.work_life_balance",
        "film.end_credits",
        "course.academic_credits",
        "library.loan_period",
    ),
    *("wine.age", "content.age_rating", "site.health_check", "tech.technical_debt", "golf.handicap", "good_faith"),
    *(
        "ui.disabled_state",
        "notifications_disabled",
        "garden.fertilizer_type",
        "clean.solvent_free",
        "time.daylight_savings",
    ),
    *("shop.discount_savings", "screen.orientation", "travel.socialising", "hotel.hospitality_style", "ui.pill_button"),
    *("gift.birthday_theme", "juice.blood_orange", "science.citizen_science", "community.size", "content.selection"),
    *(
        "communication.style",
        "content.page_length",
        "delivery.holding_area",
        "photo.gallery_portfolio",
        "loyalty.earning_points",
    ),
    *(
        "content.storage",
        "account.language",
        "coffee.dose",
        "How do you make coffee?",
        "points you earn",
        "ui.far_left",
    ),
    *(
        "brand.static_assets",
        "food.spiciness",
        "b2b.annual_revenue_goal",
        "travel.embassy_sights",
        "telehealth",
        "wellness",
    ),
    *("contact.preferred_channel", "shopping.budget_band", "design.mental_model", "swim.stroke", "travel.sexton_hotel"),
]


def find(text: str) -> str | None:
    return find_sensitive([text], catalog_file().sensitive)


@pytest.mark.parametrize("text", [text for texts in MUST_REFUSE.values() for text in texts])
def test_a_sensitive_text_is_met(text: str) -> None:
    assert find(text) is not None


@pytest.mark.parametrize("text", MUST_PASS)
def test_a_text_that_only_sounds_sensitive_passes(text: str) -> None:
    assert find(text) is None


@pytest.mark.parametrize("text", ["Your IN\u200bCOME", "ｉｎｃｏｍｅ", "Íncome", "income2", "INCOME_band", "(income)"])
def test_a_spelling_hides_no_term(text: str) -> None:
    assert find(text) is not None


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("travel.travel_documents", "travel document"),
        ("profile.dateofbirth", "date of birth"),
        ("Your driver's license", "driver license"),
        ("finance.debts", "debt"),
        ("care.diagnoses", "diagnos"),
    ],
)
def test_the_term_is_named_as_the_file_has_it(text: str, term: str) -> None:
    assert find(text) == term


def test_a_harmless_word_excuses_only_its_own_term() -> None:
    assert find("race distance") is None
    assert find("race distance and income") == "income"
    assert find("income distance") == "income"


def test_the_error_names_the_term(context_api: ContextApi) -> None:
    error = context_api.put_field("trip.pace", label="Which pills do you take?").json["errors"][0]
    assert (error["pointer"], error["code"]) == ("/label", "sensitive_category")
    assert '"pill"' in error["message"] or '"pills do you take"' in error["message"]


@pytest.mark.parametrize("key", MUST_PASS[:6])
def test_a_field_that_only_sounds_sensitive_is_written(context_api: ContextApi, key: str) -> None:
    assert context_api.put_field(key).status_code == 200


def table(**changes: object) -> dict[str, object]:
    valid = {"words": ["age"], "stems": ["medic"], "phrases": ["id card"], "harmless_beside": {"age": ["wine"]}}
    return valid | changes


def test_a_valid_table_has_no_mistake() -> None:
    assert list(find_errors(table())) == []
    assert find_sensitive(["wine age", "ID cards"], read_terms(table())) == "id card"


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"words": []}, "words"),
        ({"words": ["Age"]}, "words"),
        ({"words": ["id card"]}, "words"),
        ({"stems": [1]}, "stems"),
        ({"stems": None}, "stems"),
        ({"phrases": ["age"]}, "phrases"),
        ({"phrases": "id card"}, "phrases"),
        ({"harmless_beside": None}, "harmless_beside"),
        ({"harmless_beside": {"age": []}}, "harmless_beside"),
        ({"harmless_beside": {"income": ["wine"]}}, "harmless_beside"),
    ],
)
def test_a_mistake_in_the_table_is_named(change: dict[str, object], error: str) -> None:
    assert [error in message for message in find_errors(table(**change))] == [True]
