/** The reason why a clock cannot be read, and an action by which the user can make it readable. */
final class ClockUnavailable extends Exception {
    private static final long serialVersionUID = 1;
    final String remedy;

    ClockUnavailable(String reason, String remedy, Throwable cause) {
        super(reason, cause);
        this.remedy = remedy;
    }
}
