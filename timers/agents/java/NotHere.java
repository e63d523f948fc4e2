/** Why a clock cannot be read, and what the user can do about it. */
final class NotHere extends Exception {
    private static final long serialVersionUID = 1;
    final String remedy;

    NotHere(String reason, String remedy, Throwable cause) {
        super(reason, cause);
        this.remedy = remedy;
    }
}
