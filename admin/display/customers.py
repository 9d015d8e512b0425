"""Display customers."""

from chalicelib.domain.customers.customer import Customer


def summary_of(customer: Customer) -> str:
    """Return the name and the addresses of a customer, for a confirmation."""
    names = (customer.display_name, customer.email, customer.phone_number)
    return ", ".join(filter(None, names)) or "no name"
